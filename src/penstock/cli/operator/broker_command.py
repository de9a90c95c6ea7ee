"""`penstock brokers`: what is typed, and what is printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from penstock.cli.argument import INT_MAX, Json, cluster_of, quiet_app
from penstock.cli.failure import UsageFailure
from penstock.cli.operator.option import DryRun, Yes, complete_brokers
from penstock.cli.output import human_bytes, print_json, print_line, print_table

DEFAULT_THROTTLE = "50M"

app = quiet_app("Brokers: list, describe, usage, drain, remove, roll.")

BrokerId = Annotated[
    int,
    typer.Argument(
        metavar="ID",
        min=0,
        max=INT_MAX,
        show_default=False,
        help="Id of the broker.",
        autocompletion=complete_brokers,
    ),
]
BrokerIds = Annotated[
    list[int] | None,
    typer.Argument(
        metavar="ID",
        show_default=False,
        help="Only these.",
        autocompletion=complete_brokers,
    ),
]
Throttle = Annotated[
    str, typer.Option(metavar="RATE", help="Bytes a second between brokers, or none.")
]
Restart = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND", help="What restarts a node; {id}, {host} and {port} are filled in."
    ),
]
Stop = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        show_default="wait until somebody does",
        help="What stops the broker once it is empty; {id}, {host} and {port} are filled in.",
    ),
]


@app.command("list")
def list_command(ctx: typer.Context, as_json: Json = False) -> None:
    """List the brokers, those that are down included."""
    from penstock.cli.operator.broker_view import view_brokers
    from penstock.cli.operator.link import Link

    views = view_brokers(Link(cluster_of(ctx)))
    if as_json:
        print_json([each.document() for each in views])
        return
    rows = [
        (
            each.id,
            f"{each.host}:{each.port}" if each.host else None,
            each.rack,
            each.state,
            each.controller,
            each.leaders,
            each.replicas,
            each.under_replicated,
            None if each.size_bytes is None else human_bytes(each.size_bytes),
        )
        for each in views
    ]
    columns = ("id", "host", "rack", "state", "controller", "leaders", "replicas")
    print_table((*columns, "under-replicated", "on disk"), rows)


@app.command("describe")
def describe_command(ctx: typer.Context, brokers: BrokerIds = None, as_json: Json = False) -> None:
    """Show brokers one by one: replicas, bytes on disk, features."""
    from penstock.cli.operator.broker_view import BrokerView, features, view_brokers
    from penstock.cli.operator.drain import check_known
    from penstock.cli.operator.link import Link

    def show(view: BrokerView) -> None:
        size = "-" if view.size_bytes is None else human_bytes(view.size_bytes)
        for label, value in (
            ("broker", f"{view.id}  {view.host}:{view.port}  {view.state}"),
            ("rack", view.rack or "-"),
            ("controller", view.controller or "-"),
            ("leaders", view.leaders),
            ("replicas", f"{view.replicas}, {view.under_replicated} under-replicated"),
            ("on disk", size),
        ):
            print_line(f"{label:<11} {value}")
        rows = [
            (each.name, each.level, f"{each.supported_min}-{each.supported_max}")
            for each in features(view, link.connect)
        ]
        if rows:
            print_table(("feature", "level", "supported"), rows)

    link = Link(cluster_of(ctx))
    views = view_brokers(link)
    for wanted in brokers or ():
        check_known([each.id for each in views], wanted)
    views = [each for each in views if not brokers or each.id in brokers]
    if as_json:
        print_json(
            [
                view.document() | {"features": [asdict(f) for f in features(view, link.connect)]}
                for view in views
            ]
        )
        return
    for index, view in enumerate(views):
        if index:
            print_line("")
        show(view)


@app.command("usage")
def usage_command(
    ctx: typer.Context,
    brokers: BrokerIds = None,
    days: Annotated[int, typer.Option(metavar="N", min=1, max=3650, help="How far back.")] = 30,
    hourly: Annotated[bool, typer.Option("--hourly", help="By hour instead of by day.")] = False,
    capacity: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES", help="What a broker can move in a second, each way; alarm at 60 %."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what brokers moved in the last days, from the past that they keep.

    \b
    penstock brokers usage --capacity 1G
    penstock brokers usage 2 --days 1 --hourly
    """
    from penstock.cli.history.usage import DAY_MS
    from penstock.cli.history.usage_page import show_usage
    from penstock.cli.operator.link import Link
    from penstock.cli.tenant import parse_size
    from penstock.model.figures import HOUR_MS

    most = None if capacity is None else parse_size(capacity, "--capacity")
    if most is not None and most <= 0:
        raise UsageFailure("--capacity takes bytes a second such as 1G")
    span_ms = HOUR_MS if hourly else DAY_MS
    show_usage(Link(cluster_of(ctx)), brokers or [], days, span_ms, most, as_json=as_json)


@app.command("drain")
def drain_command(
    ctx: typer.Context,
    broker: BrokerId,
    throttle: Throttle = DEFAULT_THROTTLE,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Return when the moves have begun.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="End it: cancel its moves, let replicas come again.")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Move every replica off a broker. A second call goes on where the first one stopped."""
    from penstock.cli.operator.drain import cancel_drain, drain
    from penstock.cli.operator.link import Link
    from penstock.cli.operator.mover import Mover
    from penstock.cli.operator.throttle import parse_rate

    rate = parse_rate(throttle)
    mover = Mover(Link(cluster_of(ctx)), rate, as_json=as_json)
    if cancel:
        cancel_drain(mover, broker)
        return
    drain(mover, broker, yes=yes, dry_run=dry_run, wait=not no_wait)


@app.command("remove")
def remove_command(
    ctx: typer.Context,
    broker: BrokerId,
    throttle: Throttle = DEFAULT_THROTTLE,
    stop: Stop = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Drain a broker and, once it is stopped, take it out of the cluster."""
    from penstock.cli.operator.drain import drain, unregister
    from penstock.cli.operator.link import Link
    from penstock.cli.operator.mover import Mover
    from penstock.cli.operator.throttle import parse_rate

    rate = parse_rate(throttle)
    mover = Mover(Link(cluster_of(ctx)), rate, as_json=False)
    drain(mover, broker, yes=yes, dry_run=dry_run, wait=True)
    if not dry_run:
        unregister(mover.link, broker, stop, yes=yes)


@app.command("roll")
def roll_command(
    ctx: typer.Context,
    nodes: BrokerIds = None,
    restart: Restart = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Restart every node in turn: brokers first, the active controller last.

    Before each restart it waits until every replica is in sync and every controller level.
    """
    from penstock.cli.operator.link import Link
    from penstock.cli.operator.roll_run import Roll

    if restart is None and not dry_run:
        raise UsageFailure("say how a node is restarted: --restart 'COMMAND {id}'")
    roll = Roll(Link(cluster_of(ctx)), nodes or ())
    roll.show()
    if restart is not None and not dry_run:
        roll.run(restart, yes=yes)
