"""What the pipeline beside the saga has found, as lines: the funnel by minute, and stuck orders."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.cli.failure import Failure
from penstock.cli.output import plural

_SHOWN = 10
_COLUMNS = {
    "placed": "orders.placed",
    "reserved": "inventory.reserved",
    "paid": "payments.paid",
    "fulfilled": "fulfilment.fulfilled",
    "completed": "orders.completed",
    "failed": "orders.failed",
    "cancelled": "orders.cancelled",
    "refunded": "payments.refunded",
    "told": "notifications.sent",
}


@dataclass(frozen=True, slots=True)
class Found:
    minutes: Mapping[str, Mapping[str, int]]
    """Orders by minute and step, the latest minute last."""
    stuck: Sequence[Mapping[str, Any]]


def read_found(database: Path) -> Found:
    from penstock.pipelines.jobs.saga.job import FUNNEL, STUCK

    if not database.exists():
        raise Failure(f"{database} is not there; `penstock pipeline run saga-funnel` makes it")
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        minutes: dict[str, dict[str, int]] = {}
        for minute, step, orders in _rows(opened, FUNNEL, "minute, step, orders"):
            minutes.setdefault(str(minute)[:16], {})[step] = orders
        names = ("order_id", "step", "placed_at", "since")
        stuck = [
            dict(zip(names, row, strict=True)) for row in _rows(opened, STUCK, ", ".join(names))
        ]
    return Found(minutes, stuck)


def _rows(opened: sqlite3.Connection, table: str, columns: str) -> list[tuple[Any, ...]]:
    known = opened.execute("select 1 from sqlite_master where name = ?", (table,)).fetchone()
    return (
        opened.execute(f"select {columns} from {table} order by 1, 2").fetchall() if known else []
    )


def lines(found: Found) -> Iterator[str]:
    yield "  ".join([f"{'placed at':16}", *(f"{each:>9}" for each in _COLUMNS)])
    for minute, steps in list(found.minutes.items())[-_SHOWN:]:
        counts = (f"{steps.get(step, 0):>9,}" for step in _COLUMNS.values())
        yield "  ".join([f"{minute:16}", *counts])
    if not found.stuck:
        yield "no order is stuck"
        return
    told = plural(len(found.stuck), "order")
    yield f"{told} stuck: nothing was heard of {'it' if len(found.stuck) == 1 else 'them'} since"
    for each in found.stuck[:_SHOWN]:
        yield f"  {each['order_id']}: {each['step']} at {str(each['since'])[:19]}"
