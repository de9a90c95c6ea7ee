"""Several outputs in one query: what is read once is in each sink once, whatever happens."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock.pipelines import decode, expect, expect_or_stop, pipeline, sinks, sources
from penstock.pipelines.error import RunError, TransientError
from penstock.pipelines.run import pipeline as run_pipeline
from penstock.pipelines.run.plan import input_frame
from penstock.pipelines.run_settings import RunSettings

COMMITTED = {"isolation.level": "read_committed"}
ORDERS = sources.topic("orders", decode=decode.json("id int NOT NULL, amount double"))


def split(outputs: Mapping[str, Any], **declared: Any) -> Any:
    """Every order to each output, as what its sink takes."""

    @pipeline(inputs={"orders": ORDERS}, outputs=outputs, name="split", **declared)
    def split(orders: Any) -> Any:
        records = orders.selectExpr("string(id) AS key", "string(amount) AS value")
        rows = orders.select("id", "amount")
        made = {"left": records, "right": records.where("value > '55'"), "kept": rows, "last": rows}
        return {output: made.get(output, rows) for output in outputs}

    return split


class BatchesInMemory:
    """A sink of a user's own, with failures to come."""

    mode = "append"

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.numbers: list[int] = []

    def open(self, frame: Any, **_: Any) -> Any:
        def write(batch: Any, query_id: str, number: int) -> None:
            found = [each.id for each in batch.collect()]
            if self.failures > 0:
                self.failures -= 1
                raise TransientError("the other side does not answer")
            self.numbers += found

        return write

    def start(self, frame: Any, **_: Any) -> Any:
        raise AssertionError("it was to be asked for batches")


def order(number: int) -> str:
    return json.dumps({"id": number, "amount": number * 10.0})


def keys(penstock: Any, topic: str) -> list[int]:
    return sorted(int(each.key) for each in penstock.read(topic, settings=COMMITTED))


def undo_commit(checkpoint: Path) -> None:
    """As if killed after the sinks had written and before Spark noted the end of the batch."""
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)


def read_queries(monkeypatch: Any) -> list[Any]:
    """What Spark reported of every query."""
    told: list[Any] = []
    take = run_pipeline.PipelineRun._take

    def noted(self: Any, query: Any, report: Any) -> None:
        if report.progress is not None:
            told.append(report.progress)
        take(self, query, report)

    monkeypatch.setattr(run_pipeline.PipelineRun, "_take", noted)
    return told


def test_one_query_reads_for_every_kind_of_sink(
    spark: Any, penstock: Any, pipeline_run: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    penstock.create_topic("orders", partitions=2)
    penstock.produce("orders", [*map(order, range(10)), "no order"])
    told = read_queries(monkeypatch)
    table = f"sqlite:///{tmp_path}/orders.db"
    declared = split(
        {
            "left": sinks.topic("left"),
            "right": sinks.topic("right", delivery="at-least-once"),
            "kept": sinks.parquet(str(tmp_path / "kept")),
            "last": sinks.database("last", key="id", url=table),
        },
        expect={"left": [expect("large", "value > '55'")]},
    )
    progress = pipeline_run(declared)
    assert {each["id"] for each in told if each["numInputRows"]} == {told[0]["id"]}
    assert sum(each["numInputRows"] for each in told) == 11
    assert keys(penstock, "left") == list(range(10))
    assert keys(penstock, "right") == [6, 7, 8, 9]

    def kept() -> list[int]:
        return sorted(each.id for each in spark.read.parquet(str(tmp_path / "kept")).collect())

    def last() -> list[int]:
        with sqlite3.connect(tmp_path / "orders.db") as database:
            return [row[0] for row in database.execute("select id from last order by id")]

    assert kept() == last() == list(range(10))
    assert (progress.input_rows, progress.output_rows) == (11, 34)
    assert (progress.dead_letters, progress.lag) == (1, 0)
    assert progress.extra["expectations"]["left"]["large"] == {"passed": 4, "failed": 6}
    # The batch again: who has written it leaves it out.
    undo_commit(tmp_path / "pipelines" / "split" / "@orders")
    penstock.produce("orders", [order(10)])
    assert pipeline_run(declared).lag == 0
    assert keys(penstock, "left") == kept() == last() == list(range(11))
    assert len(penstock.read("split.dead-letters", settings=COMMITTED)) == 1


def test_a_sink_that_failed_after_another_had_written_repeats_nothing(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order(1), order(2)])
    memory = BatchesInMemory(failures=2)
    declared = split({"left": sinks.topic("left"), "memory": memory})
    with pytest.raises(RunError, match=r"split, output memory: gave up after 2 failures"):
        pipeline_run(declared, retry_backoff_s=0.01, retries_max=1)
    assert (keys(penstock, "left"), memory.numbers) == ([1, 2], [])
    penstock.produce("orders", [order(3)])
    pipeline_run(declared)
    assert keys(penstock, "left") == sorted(memory.numbers) == [1, 2, 3]


def test_a_row_that_ends_the_run_is_named_with_its_output(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order(1)])
    outputs = {"left": sinks.topic("left"), "right": sinks.topic("right")}
    with pytest.raises(RunError, match=r"output left: .*expectation few failed \(double"):
        pipeline_run(split(outputs, expect={"left": [expect_or_stop("few", "double(value) < 5")]}))


def test_state_and_a_name_keep_an_output_apart(
    penstock: Any, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    outputs = {
        "left": sinks.topic("left"),
        "right": sinks.topic("right"),
        "sums": sinks.topic("sums", mode="update"),
        "kept": sinks.topic("kept"),
    }

    @pipeline(inputs={"orders": ORDERS}, outputs=outputs, apart=["kept"], name="split")
    def declared(orders: Any) -> Any:
        sums = orders.groupBy("id").count()
        records = orders.selectExpr("string(id) AS key", "string(amount) AS value")
        timed = orders.selectExpr("string(current_timestamp()) AS value")
        sums = sums.selectExpr("string(id) AS key", "string(count) AS value")
        return {"left": records, "right": timed, "sums": sums, "kept": records}

    running = pipeline_start(declared)
    assert len(running.queries) == 4
    running.stop()


def test_what_is_made_row_by_row_is_known_by_its_plan(spark: Any) -> None:
    from pyspark.sql import functions as F

    from penstock.pipelines.run.row_wise import row_wise_input

    rows = input_frame("orders", ORDERS, spark, RunSettings("127.0.0.1:1"), None, {})
    table = spark.createDataFrame([], "id int, name string")
    for frame in (
        rows.where("amount > 1").selectExpr("explode(array(id, id)) AS id"),
        rows.withWatermark("_timestamp", "1 minute").repartition(2, "id"),
        rows.mapInPandas(lambda each: each, rows.schema).select("id"),
        rows.join(table, "id", "left"),
        rows.select("id").union(rows.select("id")),
    ):
        assert row_wise_input(frame) == "orders"
    for frame in (
        rows.groupBy("id").count(),
        rows.dropDuplicates(["id"]),
        rows.limit(3),
        rows.join(rows.withColumnRenamed("id", "other"), F.expr("id = other")),
        table.join(rows, "id", "left"),
        rows.selectExpr("unix_timestamp() AS now"),
    ):
        assert row_wise_input(frame) is None


def as_before(monkeypatch: Any) -> Any:
    """Each output with a query of its own, as runs had them that know nothing else."""
    monkeypatch.setattr(run_pipeline, "sharing_outputs", lambda *_: {})


def folders(tmp_path: Path) -> Collection[str]:
    home = tmp_path / "pipelines" / "split"
    return sorted(each.name for each in home.iterdir() if each.is_dir())


def test_queries_come_together_and_part_without_loss_or_double(
    penstock: Any, pipeline_run: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    penstock.create_topic("orders", partitions=2)
    outputs = {"left": sinks.topic("left"), "right": sinks.topic("right")}
    declared = split(outputs)
    with monkeypatch.context() as before:
        as_before(before)
        penstock.produce("orders", [order(each) for each in range(4)])
        pipeline_run(declared)
    assert folders(tmp_path) == ["left", "right"]
    # In the middle of a batch they go on as they are, and come together at the start after it.
    undo_commit(tmp_path / "pipelines" / "split" / "right")
    penstock.produce("orders", [order(each) for each in range(4, 8)])
    pipeline_run(declared)
    assert folders(tmp_path) == ["left", "right"]
    penstock.produce("orders", [order(8), "no order"])
    pipeline_run(declared)
    assert folders(tmp_path) == ["@orders", "left", "right"]
    penstock.produce("orders", [order(9)])
    pipeline_run(split(outputs, apart=["left", "right"]))
    assert folders(tmp_path) == ["@orders", "left", "left.1", "right", "right.1"]
    assert keys(penstock, "left") == list(range(10))
    assert keys(penstock, "right") == [6, 7, 8, 9]
    assert len(penstock.read("split.dead-letters", settings=COMMITTED)) == 1
