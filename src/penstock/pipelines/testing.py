"""Pytest fixtures for pipelines: one Spark session for the run, pipelines against a real broker.

    def test_big_orders(penstock, pipeline_run):
        penstock.create_topic("orders")
        penstock.produce("orders", ['{"id": "a", "amount": 5000}'])
        pipeline_run(big_orders)
        assert [each.key for each in penstock.read("big-orders")] == [b"a"]

Loaded by every pytest run where Penstock is installed: Spark is imported when a test asks for it.
The broker is that of the `penstock` fixture, or whatever fixture of that name there is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run.runner import Runnable, Running

SPARK_MASTER = "local[2]"
# With one tier of compilers Java keeps 48 MB for code. A session that runs many tests fills them
# with the code that Spark makes of each plan, and when they are full its method handles fail.
_JAVA_OPTIONS = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
)
SPARK_OPTIONS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.driver.extraJavaOptions": " ".join(_JAVA_OPTIONS),
}
_RUN_TIMEOUT_S = 120.0


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The Spark session that all tests of this run share."""
    with warnings.catch_warnings():
        # Spark's and its libraries' own; nothing a test could do about them.
        warnings.simplefilter("ignore")
        from penstock.pipelines.session import session

        shared = session(name="penstock-tests", master=SPARK_MASTER, options=SPARK_OPTIONS)
    yield shared
    shared.stop()


@pytest.fixture
def pipeline_start(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path
) -> Iterator[Callable[..., Running]]:
    """`pipeline_start(pipeline, **settings)`: one that goes on until the test ends or stops it."""
    from penstock.pipelines.run_settings import RunSettings

    running: list[Running] = []

    def start(pipeline: Runnable, **settings: Any) -> Running:
        if "bootstrap_servers" not in settings:
            settings["bootstrap_servers"] = request.getfixturevalue("penstock").bootstrap_servers
        settings.setdefault("directory", tmp_path / "pipelines")
        started = pipeline.start(spark, RunSettings(**settings))
        running.append(started)
        return started

    # Asked for first, so that it ends last: a pipeline stops while its broker still answers.
    if "penstock" in request.fixturenames:
        request.getfixturevalue("penstock")
    yield start
    for each in running:
        each.stop()


@pytest.fixture
def pipeline_run(pipeline_start: Callable[..., Running]) -> Callable[..., Progress]:
    """`pipeline_run(pipeline, **settings)`: work off what the topics hold, and end.

    Called again it goes on from there, as a restarted pipeline does.
    """

    def run(pipeline: Runnable, **settings: Any) -> Progress:
        running = pipeline_start(pipeline, trigger={"availableNow": True}, **settings)
        if not running.wait(_RUN_TIMEOUT_S):
            running.stop()
            raise TimeoutError(f"{pipeline.name} did not end in {_RUN_TIMEOUT_S:.0f} s")
        return running.progress()

    return run
