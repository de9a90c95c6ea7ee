"""The exactly-once topic sink in a real Spark query: replays, pinned tasks, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from penstock.pipelines import sinks
from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.run_settings import RunSettings
from penstock.testing.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COMMITTED = {"isolation.level": "read_committed"}
Copy = Callable[..., Any]


@pytest.fixture
def copy(spark: SparkSession, penstock: Broker, tmp_path: Path) -> Copy:
    """Copy `in` through a sink, in batches of ten; gives the query."""
    penstock.create_topic("in", 2)
    penstock.create_topic("out", 3)
    settings = RunSettings(penstock.bootstrap_servers, tmp_path)

    def run(sink: sinks.Sink, change: Callable[[DataFrame], DataFrame] | None = None) -> Any:
        reader = spark.readStream.format("kafka").options(**settings.spark_kafka())
        reader = reader.option("subscribe", "in").option("startingOffsets", "earliest")
        rows = reader.option("maxOffsetsPerTrigger", 10).load()
        query = sink.start(
            change(rows) if change else rows.select("key", "value"),
            pipeline="pipe",
            output="copy",
            checkpoint=str(tmp_path / "checkpoint"),
            settings=settings,
            trigger={"availableNow": True},
        )
        query.awaitTermination()
        return query

    return run


def feed(broker: Broker, numbers: range) -> None:
    broker.produce("in", [(f"k{number % 5}", str(number)) for number in numbers])


def values(broker: Broker, topic: str = "out") -> list[int]:
    return sorted(int(each.value or b"-1") for each in broker.read(topic, settings=COMMITTED))


def undo_commits(checkpoint: Path) -> None:
    """As if killed after the last batch was written and before Spark noted it."""
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("tasks", [None, 3])
def test_a_replayed_batch_is_there_once(
    penstock: Broker, copy: Copy, tmp_path: Path, tasks: int | None
) -> None:
    feed(penstock, range(40))
    query = copy(sinks.topic("out", tasks=tasks))
    rows = [each.observedMetrics["penstock.sink"].rows for each in query.recentProgress]
    assert sum(rows) == 40
    undo_commits(tmp_path / "checkpoint")
    copy(sinks.topic("out", tasks=tasks))
    feed(penstock, range(40, 45))
    copy(sinks.topic("out", tasks=tasks))
    assert values(penstock) == list(range(45))
    for key in (b"k%d" % number for number in range(5)):
        found = [each for each in penstock.read("out", settings=COMMITTED) if each.key == key]
        assert [int(each.value or b"") for each in found] == sorted(values_of(found))


def values_of(records: list[Any]) -> list[int]:
    return [int(each.value) for each in records]


def test_sparks_own_sink_writes_it_twice(penstock: Broker, copy: Copy, tmp_path: Path) -> None:
    """So that the test above is known to be able to fail."""
    feed(penstock, range(10))
    copy(sinks.topic("out", delivery="at-least-once"))
    undo_commits(tmp_path / "checkpoint")
    copy(sinks.topic("out", delivery="at-least-once"))
    assert values(penstock) == sorted([*range(10), *range(10)])


def pinned_tasks(checkpoint: Path) -> int:
    (pin,) = checkpoint.glob("penstock-sink*.json")
    return int(json.loads(pin.read_text())["tasks"])


def test_the_number_of_tasks_changes_between_batches_only(
    penstock: Broker, copy: Copy, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    feed(penstock, range(10))
    copy(sinks.topic("out", tasks=9))
    assert pinned_tasks(checkpoint) == 3
    admin = AdminClient({"bootstrap.servers": penstock.bootstrap_servers})
    admin.create_partitions([NewPartitions("out", 6)])["out"].result(10)
    undo_commits(checkpoint)
    feed(penstock, range(10, 20))
    copy(sinks.topic("out", tasks=1))
    assert pinned_tasks(checkpoint) == 3
    for tasks, more in ((1, range(20, 30)), (6, range(30, 40))):
        feed(penstock, more)
        copy(sinks.topic("out", tasks=tasks))
        assert pinned_tasks(checkpoint) == tasks
    assert values(penstock) == list(range(40))


def test_a_new_checkpoint_starts_anew_and_an_old_one_is_refused(
    penstock: Broker, copy: Copy, tmp_path: Path
) -> None:
    feed(penstock, range(30))
    copy(sinks.topic("out"))
    offsets = tmp_path / "checkpoint" / "offsets"
    for each in [*offsets.glob("[1-9]*"), *offsets.glob(".[1-9]*")]:
        each.unlink()
    with pytest.raises(RunError, match="older than what was written"):
        copy(sinks.topic("out"))
    (tmp_path / "checkpoint").rename(tmp_path / "gone")
    copy(sinks.topic("out"))
    assert values(penstock) == sorted([*range(30), *range(30)])


def test_an_aggregation_and_a_topic_that_is_not_there_yet(penstock: Broker, copy: Copy) -> None:
    feed(penstock, range(10))

    def count(rows: DataFrame) -> DataFrame:
        return rows.groupBy("key").count().selectExpr("key", "string(count) as value")

    copy(sinks.topic("counts", mode="update"), count)
    last = {each.key: each.value for each in penstock.read("counts", settings=COMMITTED)}
    assert last == {b"k%d" % number: b"2" for number in range(5)}


def test_what_is_refused(copy: Copy, tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="it was given key, offset"):
        copy(sinks.topic("out"), lambda rows: rows.select("key", "offset"))
    with pytest.raises(DeclarationError, match="exactly-once or at-least-once"):
        sinks.topic("out", delivery="at-most-once")  # type: ignore[arg-type]
    copy(sinks.topic("out"))
    with pytest.raises(RunError, match="went to topic out so far"):
        copy(sinks.topic("elsewhere"))
