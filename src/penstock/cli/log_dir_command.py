"""`penstock log-dirs`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import Json, cluster_of
from penstock.cli.completion import complete_topics
from penstock.cli.failure import UsageFailure
from penstock.cli.output import human_bytes, plural, print_json, print_line, print_table


def log_dirs(
    ctx: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            "-t",
            metavar="TOPIC",
            help="Only this topic.",
            autocompletion=complete_topics,
        ),
    ] = None,
    broker: Annotated[
        list[int] | None, typer.Option("--broker", metavar="ID", help="Only this broker.")
    ] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="Also empty partitions of internal topics.")
    ] = False,
    free: Annotated[
        bool, typer.Option("--free", help="Instead: what could be freed, by topic.")
    ] = False,
    older: Annotated[
        str | None,
        typer.Option(
            "--older",
            metavar="TIME",
            show_default="half of what each topic keeps",
            help="With --free: records older than that, such as 3d.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show log directories and the size of each partition, or what could be freed."""
    if free or older is not None:
        _show_freeable(ctx, older, as_json)
        return
    from penstock.cli.log_dir import LogDir, check_topics, describe_log_dirs

    def show(directory: LogDir) -> None:
        used = sum(each.size_bytes for each in directory.partitions)
        state = f"  ERROR: {directory.error}" if directory.error else ""
        state += "  cordoned" if directory.cordoned else ""
        print_line(f"broker {directory.broker}  {directory.path}  {human_bytes(used)}{state}")
        rows = [
            (each.topic, each.partition, each.size_bytes, each.offset_lag)
            for each in directory.partitions
        ]
        print_table(("topic", "partition", "bytes", "lag"), rows)

    cluster = cluster_of(ctx)
    directories = describe_log_dirs(cluster, set(topic or ()), set(broker or ()))
    check_topics(cluster, topic or (), directories)
    hidden = 0
    if not internal and not topic:
        hidden = sum(each.hide_empty_internal() for each in directories)
    if as_json:
        print_json([each.document() for each in directories])
        return
    for directory in directories:
        show(directory)
    if hidden:
        print_line(f"{plural(hidden, 'empty internal partition')} not shown; see --internal")


def _show_freeable(ctx: typer.Context, older: str | None, as_json: bool) -> None:
    from penstock.cli.freeable import read_uses
    from penstock.cli.operator.estimate import show_duration
    from penstock.cli.tenant import parse_duration

    older_ms = None if older is None else parse_duration(older, "--older")
    if older_ms == 0:
        raise UsageFailure("--older takes a time above 0")
    uses = read_uses(cluster_of(ctx), older_ms)
    if as_json:
        print_json([each.document() for each in uses])
        return
    rows = [
        (
            each.topic,
            human_bytes(each.size_bytes),
            "all" if each.retention_ms is None else show_duration(each.retention_ms / 1000),
            each.groups,
            "compacted" if each.is_compacted else human_bytes(each.freeable_bytes),
            show_duration(each.older_ms / 1000),
        )
        for each in uses
    ]
    print_table(("topic", "on disks", "keeps", "groups", "could go", "older than"), rows)
    for each in uses:
        if each.command is not None:
            print_line(each.command)
    unread = [each.topic for each in uses if not each.groups and each.size_bytes]
    if unread:
        print_line(f"read by no group: {', '.join(unread)}")
