"""`penstock log-dirs`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import Json, cluster_of
from penstock.cli.completion import complete_topics
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
    as_json: Json = False,
) -> None:
    """Show log directories and the size of each partition."""
    from penstock.cli.log_dir import LogDir, describe_log_dirs

    def show(directory: LogDir) -> None:
        used = sum(each.size_bytes for each in directory.partitions)
        state = f"  ERROR: {directory.error}" if directory.error else ""
        print_line(f"broker {directory.broker}  {directory.path}  {human_bytes(used)}{state}")
        rows = [
            (each.topic, each.partition, each.size_bytes, each.offset_lag)
            for each in directory.partitions
        ]
        print_table(("topic", "partition", "bytes", "lag"), rows)

    cluster = cluster_of(ctx)
    directories = describe_log_dirs(cluster, set(topic or ()), set(broker or ()))
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
