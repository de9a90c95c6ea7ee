"""`penstock lag`: what is typed."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from penstock.cli.argument import Json, cluster_of
from penstock.cli.failure import UsageFailure
from penstock.cli.group.option import Interval, check_pace, complete_groups


def lag(
    ctx: typer.Context,
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GROUP...",
            show_default=False,
            help="Only these.",
            autocompletion=complete_groups,
        ),
    ] = None,
    interval: Interval = 2.0,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-n",
            metavar="N",
            show_default="until Ctrl-C on a terminal, else 1",
            help="Looks.",
        ),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", metavar="N", help="Lines that are shown.")] = 40,
    as_json: Json = False,
) -> None:
    """Show which groups are behind, live and worst first: those over their limit (`penstock sla`)
    before all others, then by the age of the oldest record not consumed."""
    from penstock.cli.group.watch import watch_all
    from penstock.cli.operator.link import Link

    looks = count if count is not None else 0 if sys.stdout.isatty() else 1
    check_pace(interval, looks)
    if rows < 1:
        raise UsageFailure("--rows takes a number above 0")
    watch_all(Link(cluster_of(ctx)), groups or (), interval, looks, rows, as_json=as_json)
