"""`penstock audit`: what is typed, and what is printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.argument import cluster_of
from penstock.cli.audit import SUMMED, Line, Question, sentence, totals
from penstock.cli.audit_source import audit_lines
from penstock.cli.failure import UsageFailure
from penstock.cli.output import print_line, print_table
from penstock.cli.position import Anchor, Position, parse_position

TIMES = "beginning, -15m (s, m, h, d ago), ISO time, or @MILLISECONDS"


def audit(
    ctx: typer.Context,
    principal: Annotated[
        str | None,
        typer.Option("--principal", metavar="NAME", help="Only of this one; NAME* is a prefix."),
    ] = None,
    resource: Annotated[
        str | None,
        typer.Option(
            "--resource", "-r", metavar="NAME", help="Only about this topic, group or other."
        ),
    ] = None,
    operation: Annotated[
        str | None,
        typer.Option("--operation", "-o", metavar="NAME", help="Only READ, WRITE or another."),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option("--outcome", metavar="NAME", help="Only allowed, refused or failed."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="NAME", help="Only access, change or login.")
    ] = None,
    client_id: Annotated[
        str | None, typer.Option("--client", metavar="ID", help="Only of this client id.")
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Only from this address.")
    ] = None,
    start: Annotated[
        str, typer.Option("--from", metavar="TIME", help=f"Since when: {TIMES}.")
    ] = "beginning",
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Up to when.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="At the end wait for more, until Ctrl-C.")
    ] = False,
    summed: Annotated[bool, typer.Option("--sum", help="Add up by who did what to which.")] = False,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="Read this file instead of the topic."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The lines themselves, one JSON object each.")
    ] = False,
) -> None:
    """Who did what: query the audit log.

    A broker keeps one with penstock.audit.topic.enable=true, or in a file with
    penstock.audit.file.

    \b
    penstock audit --resource internal-orders --operation READ --from -30d --sum
    penstock audit --outcome refused --follow
    penstock audit --principal alice --kind change --json > alice.jsonl
    """
    if follow and (summed or until is not None or file is not None):
        raise UsageFailure("--follow has no end: leave out --sum, --until and --file")
    now_ms = time.time_ns() // 1_000_000
    first, last = _time(start, now_ms), None if until is None else _time(until, now_ms)
    question = Question(principal, resource, operation, outcome, kind, client_id, host)
    with audit_lines(cluster_of(ctx), file, first, last, follow=follow) as lines:
        meant = (line for line in lines if question.matches(line))
        if summed:
            _print_totals(meant)
            return
        for line in meant:
            print_line(_json(line) if as_json else sentence(line))
            if follow:
                sys.stdout.flush()


def _time(text: str, now_ms: int) -> Position:
    position = parse_position(text, now_ms)
    if position.anchor not in (Anchor.beginning, Anchor.end, Anchor.time):
        raise UsageFailure(f"{text!r} is no time; give {TIMES}")
    return position


def _json(line: Line) -> str:
    import json

    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _print_totals(lines: Iterable[Line]) -> None:
    columns = (*SUMMED, "requests", "records", "bytes", "first", "last")
    rows = [
        (*key, total.requests, total.records, total.bytes, total.first, total.last)
        for key, total in totals(lines).items()
    ]
    print_table(columns, rows)
