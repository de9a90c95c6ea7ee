"""A Spark cluster that loses its parts while a pipeline runs: each row comes out once."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.spark_cluster import SparkCluster, driver
from tests.pipelines.test_pipeline_cli import order, write_shop
from tests.pipelines.test_pipeline_cluster import all_of, keys

pytestmark = [pytest.mark.java, pytest.mark.timeout(1800)]
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


def test_workers_executors_and_drivers_die(penstock: Any, tmp_path: Path) -> None:
    write_shop(tmp_path / "code")
    (tmp_path / "cluster").mkdir()
    cluster = SparkCluster(tmp_path / "cluster")
    penstock.create_topic("orders", partitions=4)
    penstock.create_topic("doubles", partitions=4)
    options = [part for key, value in RESTLESS.items() for part in ("--set", f"{key}={value}")]
    run = ("pipeline", "run", "code/shop.py:doubles", "--master", cluster.address, *options)
    written = 0

    def more() -> None:
        nonlocal written
        penstock.produce("orders", [order(each) for each in range(written, written + 200)])
        written += 200

    try:
        with driver(penstock.bootstrap_servers, tmp_path, *run) as running:
            more()
            running.wait_for(lambda: keys(penstock) == all_of(written))
            more()
            cluster.kill_executor()
            running.wait_for(lambda: keys(penstock) == all_of(written))
            more()
            cluster.workers[0].kill()
            running.wait_for(lambda: keys(penstock) == all_of(written))
            cluster.add_worker()
            more()
            running.kill()
        more()
        with driver(penstock.bootstrap_servers, tmp_path, *run) as running:
            running.wait_for(lambda: keys(penstock) == all_of(written))
            code, said = running.end(signal.SIGTERM)
        assert code == 0, said
        assert keys(penstock) == all_of(written)
    finally:
        cluster.stop()
