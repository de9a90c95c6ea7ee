"""`penstock log-dirs`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import Bootstrap, Json, cluster_of
from penstock.cli.output import human_bytes, print_json, print_line, print_table


def log_dirs(
    ctx: typer.Context,
    topic: Annotated[
        list[str] | None, typer.Option("--topic", "-t", help="Only this one; repeatable.")
    ] = None,
    broker: Annotated[
        list[int] | None, typer.Option("--broker", help="Only this one; repeatable.")
    ] = None,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Show where the brokers keep their data, and how much there is of each partition."""
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

    cluster = cluster_of(ctx, bootstrap_server)
    directories = describe_log_dirs(cluster, set(topic or ()), set(broker or ()))
    if as_json:
        print_json([each.document() for each in directories])
        return
    for directory in directories:
        show(directory)
