"""`penstock doctor`: what is typed, and what is printed."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from penstock.cli.argument import Json, cluster_of
from penstock.cli.failure import Failure, UsageFailure, complain
from penstock.cli.group.option import complete_groups
from penstock.cli.metrics_command import Token
from penstock.cli.output import print_json, print_line


def doctor(
    ctx: typer.Context,
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GROUP...",
            show_default=False,
            help="Only these groups, beside the brokers.",
            autocompletion=complete_groups,
        ),
    ] = None,
    window: Annotated[
        str, typer.Option("--for", metavar="DURATION", help="Time between the two looks.")
    ] = "10s",
    disk: Annotated[
        float,
        typer.Option("--disk", metavar="PERCENT", min=1, max=100, help="A disk is near full."),
    ] = 85.0,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="HOST:PORT", help="Also ask a broker's metrics."),
    ] = None,
    token: Token = None,
    watch: Annotated[bool, typer.Option("--watch", help="Again and again, until Ctrl-C.")] = False,
    as_json: Json = False,
) -> None:
    """Say what is out of its limits, since when, why, what to do first and what not to do.

    It looks at the cluster twice, and changes nothing. Exit code 0: nothing is wrong; 1: something
    is; 2: it could not look.

    \b
    penstock doctor
    penstock doctor billing --for 30s
    penstock doctor --json | jq '.findings[0]'
    """
    from penstock.cli.doctor.diagnosis import diagnose, is_wrong
    from penstock.cli.doctor.page import page_document, page_lines
    from penstock.cli.doctor.reader import Observer
    from penstock.cli.group.sla import parse_duration
    from penstock.cli.operator.link import Link

    def read_metrics() -> str:
        from penstock.cli.monitoring.family import read_page

        return read_page(metrics or "", token)

    seconds = parse_duration(window)
    observer = Observer(Link(cluster_of(ctx)), groups or (), read_metrics if metrics else None)
    while True:
        try:
            facts = observer.facts(seconds)
        except UsageFailure:
            raise
        except Failure as failure:
            complain(str(failure))
            if not watch:
                raise typer.Exit(2) from failure
            _pause(seconds)
            continue
        found = diagnose(facts, disk / 100)
        if as_json and watch:
            print_line(json.dumps(page_document(facts, found)))
        elif as_json:
            print_json(page_document(facts, found))
        else:
            print_line("\n".join([*page_lines(facts, found), *([""] if watch else [])]))
        sys.stdout.flush()
        if not watch:
            raise typer.Exit(1 if is_wrong(found) else 0)


def _pause(seconds: float) -> None:
    """Before a cluster that does not answer is asked again."""
    import time

    from penstock.cli.interrupt import check_interrupt

    check_interrupt()
    time.sleep(seconds)
