"""`penstock acls review`: what is typed, and what is printed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.acl.argument import principal_of
from penstock.cli.argument import Json, cluster_of
from penstock.cli.output import note, plural, print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.cli.acl.review import Review
    from penstock.cli.audit import Line

_DAY_MS = 86_400_000


def review_command(
    ctx: typer.Context,
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="Only entries for one user.")
    ] = None,
    days: Annotated[
        int, typer.Option("--days", metavar="N", min=1, help="Look at what was done in N days.")
    ] = 30,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="An audit log that is a file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find grants that are too much: wildcards, what nobody used, and what would have sufficed.

    What was used is read from the audit log.
    """
    from penstock.cli.acl.entry import read_acls
    from penstock.cli.acl.review import review, uses_of
    from penstock.cli.audit_source import audit_lines
    from penstock.cli.operator.link import Link
    from penstock.cli.position import Anchor, Position

    cluster = cluster_of(ctx)
    principal = None if user is None else principal_of(user)
    acls = read_acls(Link(cluster), principal=principal)
    since_ms = time.time_ns() // 1_000_000 - days * _DAY_MS
    log = _Log()
    with audit_lines(cluster, file, Position(Anchor.time, max(0, since_ms))) as lines:
        uses = uses_of(log.watch(lines))
    found = review(acls, uses)
    if as_json:
        print_json(_document(found))
    else:
        _print(found)
    if log.begins_after(since_ms + _DAY_MS):
        note(f"the audit log has only what was done since {log.first or 'now'}, not {days} days")


class _Log:
    """Notices where a log begins, while it is read."""

    first: str = ""

    def watch(self, lines: Iterable[Line]) -> Iterator[Line]:
        for line in lines:
            since = str(line.get("since", line["time"]))
            self.first = min(self.first or since, since)
            yield line

    def begins_after(self, moment_ms: int) -> bool:
        return not self.first or datetime.fromisoformat(self.first).timestamp() * 1000 > moment_ms


def _print(found: Review) -> None:
    from penstock.cli.acl.entry import grant_words

    rows = [(each.kind, each.acl.principal, grant_words(each.acl), each.why) for each in found[0]]
    print_table(("finding", "principal", "may", "why"), rows)
    for principal, acls in found.least.items():
        print_line("")
        if not acls:
            print_line(f"{principal} did nothing that needs an entry")
            continue
        print_line(
            f"{principal} did nothing that {plural(len(acls), 'grant')} would not have allowed:"
        )
        for acl in acls:
            print_line(f"  {grant_words(acl)}")


def _document(found: Review) -> dict[str, Any]:
    from penstock.cli.acl.entry import document

    return {
        "findings": [
            {"finding": each.kind, "entry": document(each.acl), "why": each.why}
            for each in found.findings
        ],
        "least": {
            principal: [document(acl) for acl in acls] for principal, acls in found.least.items()
        },
    }
