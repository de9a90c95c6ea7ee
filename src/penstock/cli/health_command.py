"""`penstock health`: what is typed, and what is printed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli.argument import Json, cluster_of
from penstock.cli.output import print_json, print_line


class Check(StrEnum):
    live = "live"
    ready = "ready"
    in_sync = "in-sync"


def health(
    ctx: typer.Context,
    check: Annotated[
        Check,
        typer.Argument(
            metavar="live|ready|in-sync",
            help="It answers; it serves clients; besides, all replicas are in sync.",
        ),
    ] = Check.ready,
    as_json: Json = False,
) -> None:
    """Whether the broker at the address (-b) is well: exit code 0, or 1 with the reason.

    For probes of systemd, Docker and Kubernetes. With several addresses the first is asked.

    \b
    penstock health live -b 127.0.0.1:9092 --timeout 2
    penstock health in-sync            # before the next node is restarted
    """
    from penstock.cli.probe import Probe

    found = Probe(cluster_of(ctx)).find(check.value)
    if as_json:
        print_json({"check": found.check, "healthy": found.healthy, "said": found.said})
    else:
        print_line(found.said)
    if not found.healthy:
        raise typer.Exit(1)
