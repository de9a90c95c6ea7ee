"""The pipeline beside the saga: its funnel agrees with the services' books; it names the stuck."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from penstock.cli.saga_funnel import lines, read_found
from penstock.client.database import open_database
from penstock.pipelines.jobs.saga.job import NOTIFIED, STEPS, declared
from penstock.saga.books import read_counts
from penstock.saga.customer import Customers, stock_for
from penstock.saga.stage import Stage
from penstock.saga.tables import TOPICS

ENDS = {"orders.completed": "completed", "orders.failed": "failed", "orders.cancelled": "cancelled"}


def test_it_knows_the_topics_of_the_services() -> None:
    assert sorted(STEPS) == sorted(TOPICS)


def test_the_funnel_agrees_with_the_books_and_the_stuck_are_named(
    penstock: Any, pipeline_run: Callable[..., Any], tmp_path: Path
) -> None:
    stage = Stage(tmp_path / "saga", {"bootstrap.servers": penstock.bootstrap_servers})
    stage.prepare(stock_for(30))
    try:
        stage.start()
        with closing(open_database(stage.urls["orders"])) as orders:
            Customers(seed=3).act(orders, 30)
        assert stage.settle() == []
    finally:
        stage.stop()
    now_ms = int(time.time() * 1000)
    tell = teller(penstock)
    tell("lost", now_ms, "orders.placed", "inventory.reserved", "payments.paid")
    tell("slow", now_ms, "orders.placed", "inventory.reserved")
    # Time goes on with the events of others.
    tell("later", now_ms + 300_000, "orders.placed")
    progress = pipeline_run(declared())
    assert (progress.dead_letters, progress.lag) == (0, 0)
    found = read_found(tmp_path / "pipelines" / "saga-funnel.db")
    counted = Counter[str]()
    for steps in found.minutes.values():
        counted.update(steps)
    books = read_counts(stage.urls)
    assert counted["orders.placed"] == books["orders"].total() + 3
    assert {name: counted[step] for step, name in ENDS.items()} == {
        name: books["orders"][name] for name in ENDS.values()
    }
    assert counted[NOTIFIED] == books["notification"].total() == 30
    assert {each["order_id"]: each["step"] for each in found.stuck} == {
        "lost": "payments.paid",
        "slow": "inventory.reserved",
    }
    assert "2 orders stuck" in list(lines(found))[-3]
    # One that goes on after all is taken off the list, also where a refund comes late.
    tell("slow", now_ms + 310_000, "orders.failed", NOTIFIED)
    tell("later", now_ms + 320_000, NOTIFIED)
    tell("slow", now_ms + 500_000, "payments.refunded")
    tell("last", now_ms + 900_000, "orders.placed")
    pipeline_run(declared())
    found = read_found(tmp_path / "pipelines" / "saga-funnel.db")
    assert [each["order_id"] for each in found.stuck] == ["lost"]


def teller(penstock: Any) -> Callable[..., None]:
    def tell(order: str, at_ms: int, *topics: str) -> None:
        value = json.dumps({"order": order, "placed": at_ms})
        for topic in topics:
            penstock.produce(topic, value, key=order, timestamp_ms=at_ms)

    return tell
