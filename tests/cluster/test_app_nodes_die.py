"""An application on three nodes, whose leaders die while it works: exactly once all the same."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from penstock.client import App, Retry
from penstock.testing.cluster import Cluster
from tests.patience import wait_until

COUNT = 600
COMMITTED = {"isolation.level": "read_committed"}


def test_leaders_and_coordinators_die_under_an_application(tmp_path: Path) -> None:
    app = App("copier")
    handled = 0

    @app.consumer(
        "in",
        output="out",
        delivery="exactly-once",
        retry=Retry("1s", attempts=1),
        commit_interval="100ms",
        concurrency=8,
    )
    async def copy(value: int) -> int | None:
        nonlocal handled
        await asyncio.sleep(0.005)
        handled += 1
        if value % 100 == 99:
            raise ValueError("never")
        return value

    with Cluster(tmp_path / "nodes") as cluster:
        for topic in ("in", "out"):
            cluster.create_topic(topic, partitions=3)
        cluster.produce("in", [(f"k{n}", str(n)) for n in range(COUNT)])
        with app.test(cluster):
            for node, enough in ((1, 100), (2, 300)):
                wait_until(lambda least=enough: handled > least, "some are handled")  # type: ignore[misc]
                cluster.kill(node)
                cluster.start(node)
            wait_until(lambda: len(read(cluster, "out")) == COUNT - 6, "all are copied")
            wait_until(lambda: len(read(cluster, "copier.dead-letters")) == 6, "six are refused")
        values = sorted(read(cluster, "out"))
    assert values == [n for n in range(COUNT) if n % 100 != 99]


def read(cluster: Cluster, topic: str) -> list[int]:
    return [json.loads(each.value or b"") for each in cluster.read(topic, settings=COMMITTED)]
