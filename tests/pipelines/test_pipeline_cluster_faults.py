"""A Spark cluster that loses its parts while a pipeline runs: each row comes out once."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from penstock.cli.saga_funnel import read_found
from penstock.pipelines.jobs.saga.job import NOTIFIED, STEPS
from tests.pipelines.spark_cluster import BRIEF_EXECUTORS, SparkCluster, driver
from tests.pipelines.test_pipeline_cli import order, write_shop
from tests.pipelines.test_pipeline_cluster import COMMITTED, all_of, keys

pytestmark = [pytest.mark.java, pytest.mark.timeout(5400)]
# Executors come and go by themselves, and slow tasks are started a second time.
RESTLESS = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": "10s",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.1",
    "spark.executor.cores": "1",
}
KEYED = """
import json

from penstock.pipelines import decode, sinks, sources
from penstock.pipelines.keyed import into, keyed

table = into(sinks.parquet(compact_after_files=None), decode=decode.json("name string, n long"))


@keyed(
    source=sources.topic("orders", decode=decode.json("id string")),
    outputs={"counts": "counts", "table": table},
)
def counter(state, event, tables):
    n = (state or 0) + 1
    row = json.dumps({"name": event.key.decode(), "n": n})
    return n, [("counts", event.key, str(n)), ("table", event.key, row)]
"""
NAMES = 7


def lose_parts(
    penstock: Any,
    folder: Path,
    arguments: tuple[str, ...],
    produce: Callable[[int, int], None],
    is_done: Callable[[int], bool],
) -> None:
    """Executor, worker and driver are killed, with more to do each time; all is done after each."""
    (folder / "cluster").mkdir()
    cluster = SparkCluster(folder / "cluster")
    options = [part for key, value in RESTLESS.items() for part in ("--set", f"{key}={value}")]
    where = ("--master", cluster.address, *BRIEF_EXECUTORS)
    run = ("pipeline", "run", *arguments, *where, *options)
    written = 0

    def more() -> None:
        nonlocal written
        produce(written, written + 200)
        written += 200

    try:
        with driver(penstock.bootstrap_servers, folder, *run) as running:
            more()
            running.wait_for(lambda: is_done(written))
            more()
            cluster.kill_executor()
            running.wait_for(lambda: is_done(written))
            more()
            cluster.workers[0].kill()
            running.wait_for(lambda: is_done(written))
            cluster.add_worker()
            more()
            running.kill()
        more()
        with driver(penstock.bootstrap_servers, folder, *run) as running:
            running.wait_for(lambda: is_done(written))
            code, said = running.end(signal.SIGTERM)
        assert code == 0, said
        assert is_done(written)
    finally:
        cluster.stop()


def test_frames(penstock: Any, tmp_path: Path) -> None:
    write_shop(tmp_path / "code")
    penstock.create_topic("orders", partitions=4)
    penstock.create_topic("doubles", partitions=4)

    def produce(start: int, end: int) -> None:
        penstock.produce("orders", [order(each) for each in range(start, end)])

    def is_done(written: int) -> bool:
        return keys(penstock) == all_of(written)

    lose_parts(penstock, tmp_path, ("code/shop.py:doubles",), produce, is_done)


@pytest.mark.parametrize("place", ["topic", "spark"])
def test_a_count_for_each_key_in_a_topic_and_in_a_table(
    penstock: Any, tmp_path: Path, place: str
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "counting.py").write_text(KEYED)
    penstock.create_topic("orders", partitions=4)
    penstock.create_topic("counts", partitions=4)

    def is_done(written: int) -> bool:
        return in_topic(penstock) == counted(written) == in_table(tmp_path)

    arguments = ("code/counting.py:counter", "--state", place)
    lose_parts(penstock, tmp_path, arguments, partial(produce_keys, penstock), is_done)


def test_the_sagas_funnel(penstock: Any, tmp_path: Path) -> None:
    for topic in STEPS:
        penstock.create_topic(topic)
    database = tmp_path / "penstock-pipelines" / "saga-funnel.db"

    def produce(start: int, end: int) -> None:
        now_ms = int(time.time() * 1000)
        orders = [json.dumps({"order": f"o{n}", "placed": now_ms}) for n in range(start, end)]
        for topic in (STEPS[0], NOTIFIED):
            penstock.produce(topic, orders)

    def is_done(written: int) -> bool:
        found: Counter[str] = Counter()
        for steps in read_found(database).minutes.values() if database.exists() else ():
            found.update(steps)
        return found == {STEPS[0]: written, NOTIFIED: written}

    lose_parts(penstock, tmp_path, ("saga-funnel",), produce, is_done)


def produce_keys(penstock: Any, start: int, end: int) -> None:
    numbers = range(start, end)
    records = [(f"k{each % NAMES}", json.dumps({"id": f"o{each}"})) for each in numbers]
    penstock.produce("orders", records)


def counted(written: int) -> Counter[tuple[str, int]]:
    """What the pipeline is to make of so many."""
    return Counter((f"k{each % NAMES}", each // NAMES + 1) for each in range(written))


def in_topic(penstock: Any) -> Counter[tuple[str, int]]:
    found = penstock.read("counts", settings=COMMITTED)
    return Counter((each.key.decode(), int(each.value)) for each in found)


def in_table(folder: Path) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for file in (folder / "penstock-pipelines" / "tables" / "table").glob("batch=*/*.parquet"):
        rows = parquet.ParquetFile(file).read().to_pydict()
        found.update(zip(rows["name"], rows["n"], strict=True))
    return found
