"""`penstock consume`: what is typed, and what is printed."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from penstock.cli.argument import INT_MAX, ClusterCommand, cluster_of
from penstock.cli.cluster import Cluster
from penstock.cli.completion import complete_topics
from penstock.cli.failure import UsageFailure
from penstock.cli.output import note, plural
from penstock.cli.position import FORMS, Anchor, Position, parse_position
from penstock.cli.printer import RecordPrinter
from penstock.cli.template import LETTERS, Template
from penstock.cli.value import Format, unescape

if TYPE_CHECKING:
    from penstock.cli.group_reader import GroupReader


class ConsumeCommand(ClusterCommand):
    raw: ClassVar[frozenset[str]] = frozenset({"separator", "template"})


def consume(
    ctx: typer.Context,
    topic: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC",
            show_default=False,
            help="What to read.",
            autocompletion=complete_topics,
        ),
    ],
    start: Annotated[
        str, typer.Option("--from", metavar="PLACE", help=f"Where to start: {FORMS}.")
    ] = "beginning",
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="PLACE", help="Where to stop; that record is not read."),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option("--count", "-n", metavar="N", min=0, help="Stop after N records."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="At the end wait for more, until Ctrl-C.")
    ] = False,
    partition: Annotated[
        list[int] | None,
        typer.Option(
            "--partition", "-p", metavar="N", min=0, max=INT_MAX, help="Only this partition."
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            "-g",
            metavar="GROUP",
            help="Join a consumer group and commit what was printed.",
        ),
    ] = None,
    keys: Annotated[bool, typer.Option("--keys", "-k", help="Print keys.")] = False,
    headers: Annotated[bool, typer.Option("--headers", "-H", help="Print headers.")] = False,
    meta: Annotated[
        bool, typer.Option("--meta", "-m", help="Print partition, offset and time.")
    ] = False,
    separator: Annotated[
        str, typer.Option(metavar="TEXT", help="What stands between fields.")
    ] = "\\t",
    template: Annotated[
        str | None,
        typer.Option("--template", "-t", metavar="TEXT", help=f"Print this instead: {LETTERS}."),
    ] = None,
    key_format: Annotated[
        Format, typer.Option(metavar="FORMAT", help="Format of keys.")
    ] = Format.text,
    value_format: Annotated[
        Format,
        typer.Option(
            "--format",
            "--value-format",
            metavar="FORMAT",
            help="Format of values: text, json, hex or base64.",
        ),
    ] = Format.text,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
) -> int:
    """Print the records of a topic.

    Without --follow it ends where the topic ends now. Without --group it joins no consumer group
    and commits nothing.

    \b
    penstock consume orders --from -10 --keys
    penstock consume orders --from 2026-01-31T12:00 --until -5m --json
    penstock consume orders --follow --from end
    penstock consume orders --group reports --follow
    penstock consume orders --template '%t [%p] @%o %k: %s\\n'
    """
    if follow and until is not None:
        raise UsageFailure("--follow has no end; leave out --until")
    if template is not None and (as_json or keys or headers or meta):
        raise UsageFailure("--template says all: leave out --json, --keys, --headers and --meta")
    now_ms = time.time_ns() // 1_000_000
    first = parse_position(start, now_ms)
    last = None if until is None else parse_position(until, now_ms)
    printer = RecordPrinter(
        key_format=key_format,
        value_format=value_format,
        keys=keys,
        headers=headers,
        meta=meta,
        separator=unescape(separator),
        as_json=as_json,
        template=None if template is None else Template(template, key_format, value_format),
    )
    if group is not None:
        if not group:
            raise UsageFailure("--group must not be empty")
        if partition or last is not None or first.anchor not in (Anchor.beginning, Anchor.end):
            raise UsageFailure(
                "a group has its own place: with --group leave out --partition and --until; "
                "--from is beginning or end, for a group that has not committed yet"
            )
        return _consume_group(cluster_of(ctx), topic, group, first, printer, count, follow=follow)
    from penstock.cli.reader import TopicReader

    with TopicReader(cluster_of(ctx), topic, partition or ()) as reader:
        reader.seek(first, last, follow=follow)
        printer.print_all(reader.read(count))
    return 0


def _consume_group(
    cluster: Cluster,
    topic: str,
    group: str,
    first: Position,
    printer: RecordPrinter,
    count: int | None,
    *,
    follow: bool,
) -> int:
    from penstock.cli.group_reader import GroupReader

    flush = sys.stdout.buffer.flush
    reader = GroupReader(cluster, topic, group, first.anchor, follow=follow, flush=flush)
    try:
        with reader:
            printer.print_all(reader.read(count))
    except KeyboardInterrupt:
        _note_commit(reader, group)
        raise
    _note_commit(reader, group)
    return 0


def _note_commit(reader: GroupReader, group: str) -> None:
    note(f"group {group}: committed {plural(reader.committed, 'record')}")
