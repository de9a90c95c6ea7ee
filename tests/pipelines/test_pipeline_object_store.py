"""States, checkpoints and a table in an S3 store, on a Spark cluster: each row is there once."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tests.pipelines.object_store import ObjectStore, object_store
from tests.pipelines.spark_cluster import BRIEF_EXECUTORS, SparkCluster, driver
from tests.pipelines.test_pipeline_cluster_faults import KEYED, counted, in_topic, produce_keys

pytestmark = [pytest.mark.java, pytest.mark.timeout(1800)]
BUCKET = "lake"
TABLE = KEYED.replace(
    "sinks.parquet(compact_after_files=None)",
    f'sinks.delta("s3a://{BUCKET}/counts", compact_after_files=None)',
)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[SparkCluster]:
    (tmp_path / "cluster").mkdir()
    found = SparkCluster(tmp_path / "cluster")
    yield found
    found.stop()


def test_an_executor_and_the_driver_die(
    penstock: Any, cluster: SparkCluster, tmp_path: Path
) -> None:
    (tmp_path / "counting.py").write_text(TABLE)
    penstock.create_topic("orders", partitions=2)
    penstock.create_topic("counts", partitions=2)
    run = ("pipeline", "run", "counting.py:counter", "--state", "spark")
    run += ("--checkpoints", f"s3a://{BUCKET}/checkpoints")
    run += ("--master", cluster.address, *BRIEF_EXECUTORS)
    with object_store(tmp_path / "store") as store:
        store.make_bucket(BUCKET)

        def is_done(written: int) -> bool:
            return in_topic(penstock) == counted(written) == in_delta(store)

        run += tuple(store.spark_options())
        with driver(penstock.bootstrap_servers, tmp_path, *run) as running:
            produce_keys(penstock, 0, 100)
            running.wait_for(lambda: is_done(100))
            produce_keys(penstock, 100, 200)
            cluster.kill_executor()
            running.wait_for(lambda: is_done(200))
            produce_keys(penstock, 200, 300)
            running.kill()
        produce_keys(penstock, 300, 400)
        with driver(penstock.bootstrap_servers, tmp_path, *run) as running:
            running.wait_for(lambda: is_done(400))
            code, said = running.end(signal.SIGTERM)
        assert code == 0, said
        assert is_done(400)
        states = store.names(BUCKET, "checkpoints/counter/state/state/")
        assert any(each.endswith(".changelog") for each in states), states


def in_delta(store: ObjectStore) -> Counter[tuple[str, int]]:
    """What its log says is part of it; nothing is ever removed here."""
    found: Counter[tuple[str, int]] = Counter()
    for commit in sorted(store.names(BUCKET, "counts/_delta_log/0")):
        for line in store.read(BUCKET, commit).splitlines():
            added = json.loads(line).get("add")
            if added is not None:
                content = store.read(BUCKET, f"counts/{added['path']}")
                rows = parquet.ParquetFile(BytesIO(content)).read().to_pydict()
                found.update(zip(rows["name"], rows["n"], strict=True))
    return found
