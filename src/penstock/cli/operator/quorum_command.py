"""`penstock quorum`: what is typed, and what is printed."""

from __future__ import annotations

import time
from typing import Any

import typer

from penstock.cli.argument import Json, cluster_of
from penstock.cli.output import print_json, print_line, print_table


def quorum(ctx: typer.Context, as_json: Json = False) -> None:
    """Show the controllers: leader, voters and observers, and how far each is behind."""
    from penstock.cli.operator.link import Link
    from penstock.cli.operator.reader import read_quorum

    state = read_quorum(Link(cluster_of(ctx)))
    now_ms = time.time_ns() // 1_000_000
    replicas = [
        {
            "id": each.id,
            "role": "leader" if each.id == state.leader else role,
            "end_offset": each.end_offset,
            "lag": state.lag(each),
            "behind_s": state.behind_s(each, now_ms),
            "address": ":".join(map(str, state.addresses.get(each.id, ()))) or None,
        }
        for role, group in (("voter", state.voters), ("observer", state.observers))
        for each in sorted(group)
    ]
    document: dict[str, Any] = {
        "leader": state.leader,
        "epoch": state.epoch,
        "high_watermark": state.high_watermark,
        "replicas": replicas,
    }
    if as_json:
        print_json(document)
        return
    for key in ("leader", "epoch", "high_watermark"):
        print_line(f"{key.replace('_', ' '):<15} {document[key]}")
    print_line("")
    rows = [
        (*list(each.values())[:4], _seconds(each["behind_s"]), each["address"]) for each in replicas
    ]
    print_table(("node", "role", "end", "lag", "caught up", "address"), rows)


def _seconds(behind_s: Any) -> str | None:
    return None if behind_s is None else f"{behind_s:.1f} s ago"
