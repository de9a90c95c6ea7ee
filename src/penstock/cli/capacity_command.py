"""`penstock capacity`: what is typed, and what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.argument import Json, cluster_of
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.output import human_bytes, print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.cli.capacity.plan import Demand, DiskOutlook, Plan
    from penstock.cli.capacity.topic_advice import TopicAdvice


def capacity(
    ctx: typer.Context,
    write: Annotated[
        str | None,
        typer.Option("--write", "-w", metavar="BYTES", help="Of producers, a second on average."),
    ] = None,
    messages: Annotated[
        float | None,
        typer.Option("--messages", "-m", metavar="N", help="Instead: records a second."),
    ] = None,
    size: Annotated[str, typer.Option("--size", metavar="BYTES", help="Of a record.")] = "1K",
    peak: Annotated[
        float, typer.Option("--peak", metavar="N", help="How many times the average.")
    ] = 3.0,
    replication: Annotated[
        int, typer.Option("--replication", "-r", metavar="N", help="Replicas.")
    ] = 3,
    retention: Annotated[
        str, typer.Option("--retention", metavar="TIME", help="How long records stay.")
    ] = "7d",
    groups: Annotated[
        float, typer.Option("--groups", "-g", metavar="N", help="How often each record is read.")
    ] = 1.0,
    consumers: Annotated[
        int, typer.Option("--consumers", "-c", metavar="N", help="Of the largest group.")
    ] = 1,
    outage: Annotated[
        str, typer.Option("--outage", metavar="TIME", help="That consumers may be away.")
    ] = "1h",
    catch_up: Annotated[
        str, typer.Option("--catch-up", metavar="TIME", help="In which they are back at the end.")
    ] = "1h",
    partition_rate: Annotated[
        str,
        typer.Option("--partition-rate", metavar="BYTES", help="A second, as you measured it."),
    ] = "10M",
    headroom: Annotated[
        float, typer.Option("--headroom", metavar="N", help="For what nobody thought of.")
    ] = 1.5,
    disk: Annotated[str, typer.Option("--disk", metavar="BYTES", help="Of a broker.")] = "2T",
    network: Annotated[
        str, typer.Option("--network", metavar="BYTES", help="Of a broker, a second each way.")
    ] = "1G",
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="N", help="To measure the running cluster.")
    ] = 10.0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="A picture of its disks over time, as SVG."),
    ] = None,
    as_json: Json = False,
) -> None:
    """How many disks, brokers and partitions a load needs, with the arithmetic.

    With --write or --messages the load is as you say; else that of the running cluster is
    measured, and when its disks will be full.

    \b
    penstock capacity --messages 50000 --size 1K --groups 4 --retention 3d
    penstock capacity --plot disks.svg
    """
    from dataclasses import replace

    from penstock.cli.capacity.plan import Demand, plan_for
    from penstock.cli.tenant import parse_duration, parse_size

    numbers = (peak, replication, groups, consumers, headroom, seconds, messages or 1)
    if any(each <= 0 for each in numbers):
        raise UsageFailure("a load is described with numbers above 0")
    demand = Demand(
        write_bytes_s=0.0,
        peak_factor=peak,
        replication=replication,
        retention_s=parse_duration(retention, "--retention") / 1000,
        groups=groups,
        outage_s=parse_duration(outage, "--outage") / 1000,
        catch_up_s=max(parse_duration(catch_up, "--catch-up") / 1000, 1.0),
        partition_bytes_s=max(parse_size(partition_rate, "--partition-rate"), 1),
        consumers=consumers,
        headroom=headroom,
        disk_bytes=max(parse_size(disk, "--disk"), 1),
        network_bytes_s=max(parse_size(network, "--network"), 1),
    )
    disks: list[DiskOutlook] = []
    advice: list[TopicAdvice] = []
    if write is not None or messages is not None:
        rate = parse_size(write, "--write") if write else (messages or 0) * parse_size(size, "-s")
        demand = replace(demand, write_bytes_s=float(rate))
    else:
        from penstock.cli.capacity.measure import measure
        from penstock.cli.capacity.topic_advice import advise

        demand, disks, loads = measure(cluster_of(ctx), demand, seconds)
        advice = [advise(each, peak, demand.partition_bytes_s) for each in loads]
    if plot is not None:
        _draw(plot, disks)
    _print(demand, plan_for(demand), disks, advice, as_json=as_json)


def _draw(path: Path, disks: list[DiskOutlook]) -> None:
    from penstock.cli.capacity.picture import disks_picture

    if not disks:
        raise UsageFailure("--plot shows the disks of a running cluster that tells their sizes")
    try:
        path.write_text(disks_picture(disks))
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from error


def _print(
    demand: Demand,
    plan: Plan,
    disks: list[DiskOutlook],
    advice: list[TopicAdvice],
    *,
    as_json: bool,
) -> None:
    from penstock.cli.capacity.plan import demand_document

    if as_json:
        found = {"demand": demand_document(demand), **plan.document()}
        found["disks"] = [each.document() for each in disks]
        print_json(found | {"topics": [each.document() for each in advice]})
        return
    print_line(
        f"{human_bytes(int(demand.write_bytes_s))}/s written, read {demand.groups:.3g} times, "
        f"{demand.replication} replicas"
    )
    print_table(
        ("what", "how much", "how"),
        [(each.name, _amount(each.value, each.unit), each.formula) for each in plan.steps],
    )
    if disks:
        print_table(("broker", "disk", "used", "60 % in", "full in"), [_row(d) for d in disks])
    if advice:
        columns = ("topic", "partitions", "for the rate", "for consumers", "verdict")
        print_table(columns, [tuple(each) for each in advice])
    for each in [*plan.warnings, *(_alarm(d) for d in disks if d.share >= 0.6)]:
        print_line(f"warning: {each}")


def _amount(value: float, unit: str) -> str:
    return f"{value:,.0f}" if not unit else human_bytes(int(value)) + unit.removeprefix("bytes")


def _row(disk: DiskOutlook) -> tuple[str, str, str, str, str]:
    from penstock.cli.capacity.plan import FILL

    return (
        str(disk.broker),
        human_bytes(int(disk.total_bytes)),
        f"{disk.share:.0%}",
        _when(disk.seconds_until(FILL)),
        _when(disk.seconds_until(1.0)),
    )


def _when(seconds: float | None) -> str:
    from penstock.cli.operator.estimate import show_duration

    if seconds is None:
        return "never"
    return show_duration(seconds) if seconds else "now"


def _alarm(disk: DiskOutlook) -> str:
    return f"the disk of broker {disk.broker} is {disk.share:.0%} full; the alarm is at 60 %"
