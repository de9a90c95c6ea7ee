"""The same pipelines on a Spark cluster of its own processes: a master, two workers, executors."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.pipelines.jobs.fraud.model import DEAD_LETTERS, PAYMENTS, VERDICTS
from tests.pipelines.spark_cluster import BRIEF_EXECUTORS, Driver, SparkCluster, driver
from tests.pipelines.test_pipeline_cli import order, write_shop

pytestmark = [pytest.mark.java, pytest.mark.timeout(1800)]
COMMITTED = {"isolation.level": "read_committed"}
SENT = 3_000


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[SparkCluster]:
    found = SparkCluster(tmp_path)
    yield found
    found.stop()


def keys(penstock: Any) -> Counter[bytes]:
    return Counter(each.key for each in penstock.read("doubles"))


def all_of(count: int) -> Counter[bytes]:
    return Counter(f"o{each}".encode() for each in range(count))


def test_frames_with_own_code_and_the_detector_with_speculation_while_an_executor_dies(
    penstock: Any, cluster: SparkCluster, tmp_path: Path
) -> None:
    """Both in one session: Spark takes a while to start on a cluster."""
    servers = penstock.bootstrap_servers
    write_shop(tmp_path / "code")
    for topic in ("orders", "doubles", PAYMENTS, VERDICTS, DEAD_LETTERS):
        penstock.create_topic(topic, partitions=2)
    penstock.produce("orders", [order(each) for each in range(20)])
    speculation = ("--set", "spark.speculation=true", "--set", "spark.executor.cores=1")
    where = ("--master", cluster.address, *BRIEF_EXECUTORS)
    run = ("pipeline", "run", "code/shop.py:doubles", "fraud", *where, *speculation)
    sent = ("-n", str(SENT), "-r", "300", "--seed", "3", "-p", "2")
    with (
        driver(servers, tmp_path, "fraud", "generate", *sent) as generator,
        driver(servers, tmp_path, *run) as running,
    ):
        running.wait_for(lambda: keys(penstock) == all_of(20) and judged(penstock) > 0)
        assert len(cluster.executors()) > 1, cluster.executors()
        cluster.kill_executor()
        penstock.produce("orders", [order(each) for each in range(20, 40)])
        assert generator.end()[0] == 0
        running.wait_for(lambda: keys(penstock) == all_of(40) and judged(penstock) >= SENT)
        code, said = running.end(signal.SIGTERM)
    assert code == 0, said
    assert keys(penstock) == all_of(40)
    code, said = Driver(servers, tmp_path, "fraud", "check").end()
    assert (code, "every payment has exactly one verdict" in said) == (0, True), said


def judged(penstock: Any) -> int:
    """Payments that have a verdict, or were none."""
    return sum(len(penstock.read(each, settings=COMMITTED)) for each in (VERDICTS, DEAD_LETTERS))
