"""`penstock consume`: what is typed, and what is printed."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from penstock.cli.argument import Bootstrap, cluster_of
from penstock.cli.failure import UsageFailure
from penstock.cli.position import FORMS, parse_position
from penstock.cli.printer import RecordPrinter
from penstock.cli.value import Format


def consume(
    ctx: typer.Context,
    topic: Annotated[str, typer.Argument(metavar="TOPIC", show_default=False)],
    start: Annotated[
        str, typer.Option("--from", metavar="PLACE", help=f"Where to start: {FORMS}.")
    ] = "beginning",
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="PLACE", help="Where to stop, itself not read."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=0, help="Stop after so many records.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for more at the end, until Ctrl-C.")
    ] = False,
    partition: Annotated[
        list[int] | None,
        typer.Option("--partition", "-p", min=0, help="Only this one; repeatable."),
    ] = None,
    keys: Annotated[bool, typer.Option("--keys", "-k", help="Print keys.")] = False,
    headers: Annotated[bool, typer.Option("--headers", "-H", help="Print headers.")] = False,
    meta: Annotated[
        bool, typer.Option("--meta", "-m", help="Print partition, offset and time.")
    ] = False,
    separator: Annotated[str, typer.Option(help="What stands between fields.")] = "\\t",
    key_format: Annotated[Format, typer.Option(help="How to write keys.")] = Format.text,
    value_format: Annotated[
        Format, typer.Option("--format", "--value-format", help="How to write values.")
    ] = Format.text,
    bootstrap_server: Bootstrap = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
) -> int:
    """Print records of a topic, from the beginning to its end as it is now. Joins no group.

    \b
    penstock consume orders --from -10 --keys
    penstock consume orders --from 2026-01-31T12:00 --until -5m --json
    penstock consume orders --follow --from end
    """
    if follow and until is not None:
        raise UsageFailure("--follow has no end; leave out --until")
    now_ms = time.time_ns() // 1_000_000
    first = parse_position(start, now_ms)
    last = None if until is None else parse_position(until, now_ms)
    printer = RecordPrinter(
        key_format=key_format,
        value_format=value_format,
        keys=keys,
        headers=headers,
        meta=meta,
        separator=separator.encode().decode("unicode_escape").encode(),
        as_json=as_json,
    )
    from penstock.cli.reader import TopicReader

    with TopicReader(cluster_of(ctx, bootstrap_server), topic, partition or ()) as reader:
        reader.seek(first, last, follow=follow)
        printer.print_all(reader.read(count))
    return 0
