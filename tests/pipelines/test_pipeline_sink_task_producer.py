"""What a task does, without Spark around it: fences, takeovers, replays, rows."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest
from confluent_kafka import KafkaException

from penstock.pipelines.sinks import task_producer as producers
from penstock.pipelines.sinks.fence import FenceReader, Target
from penstock.pipelines.sinks.task_producer import TaskProducer
from penstock.pipelines.sinks.write import write_batch
from penstock.testing.broker import Broker

COMMITTED = {"isolation.level": "read_committed"}
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@pytest.fixture
def target(penstock: Broker) -> Iterator[Target]:
    penstock.create_topic("out", 2)
    yield Target("pipe", "out", "out", {"bootstrap.servers": penstock.bootstrap_servers})
    while producers._producers:
        producers._producers.popitem()[1].close()
    while producers._readers:
        producers._readers.popitem()[1].close()


def rows(*pairs: tuple[bytes | None, bytes | None]) -> list[pa.RecordBatch]:
    keys, values = zip(*pairs, strict=True)
    return [pa.record_batch({"key": pa.array(keys, pa.binary()), "value": pa.array(values)})]


def seen(broker: Broker, topic: str = "out") -> list[bytes | None]:
    return sorted(each.value or b"" for each in broker.read(topic, settings=COMMITTED))


def forget_producers() -> None:
    """As a new worker process starts."""
    producers._producers.clear()


def test_a_replayed_batch_is_written_once(penstock: Broker, target: Target) -> None:
    assert write_batch(target, "query", 0, 0, rows((b"k", b"a")))
    assert not write_batch(target, "query", 0, 0, rows((b"k", b"a")))
    forget_producers()
    assert not write_batch(target, "query", 0, 0, rows((b"k", b"a")))
    assert write_batch(target, "query", 0, 1, rows((b"k", b"b")))
    assert seen(penstock) == [b"a", b"b"]


def test_a_batch_written_in_part_is_completed(penstock: Broker, target: Target) -> None:
    write_batch(target, "query", 0, 4, rows((b"k", b"task 0")))
    forget_producers()
    assert [
        write_batch(target, "query", task, 4, rows((b"k", b"task %d" % task))) for task in (0, 1)
    ] == [False, True]
    assert seen(penstock) == [b"task 0", b"task 1"]


def test_a_zombie_commits_nothing(penstock: Broker, target: Target) -> None:
    zombie = TaskProducer(target, "query", 0)
    zombie.begin(0)
    zombie.producer.produce("out", b"twice", b"k")
    zombie.producer.flush()
    assert write_batch(target, "query", 0, 0, rows((b"k", b"twice")))
    with pytest.raises(KafkaException):
        zombie.commit(0)
    zombie.close()
    assert seen(penstock) == [b"twice"]


def test_a_zombie_that_committed_first_is_believed(penstock: Broker, target: Target) -> None:
    zombie = TaskProducer(target, "query", 0)
    zombie.begin(0)
    zombie.producer.produce("out", b"once", b"k")
    zombie.commit(0)
    assert not write_batch(target, "query", 0, 0, rows((b"k", b"once")))
    zombie.close()
    assert seen(penstock) == [b"once"]


def test_a_producer_comes_back_to_a_worker_that_had_it(penstock: Broker, target: Target) -> None:
    write_batch(target, "query", 0, 0, rows((b"k", b"0")))
    other = TaskProducer(target, "query", 0)
    other.begin(1)
    other.producer.produce("out", b"1", b"k")
    other.commit(1)
    # This worker believes that batch 1 is to come, until it finds the producer taken over.
    assert not write_batch(target, "query", 0, 1, rows((b"k", b"1")))
    assert write_batch(target, "query", 0, 2, rows((b"k", b"2")))
    other.close()
    assert seen(penstock) == [b"0", b"1", b"2"]


def test_an_attempt_that_is_overtaken_leaves_the_batch_to_the_newer_one(
    penstock: Broker, target: Target
) -> None:
    """As where Spark speculates: both run, and the newer takes the transactional id over."""
    newer: list[TaskProducer] = []

    def overtaken() -> Iterator[pa.RecordBatch]:
        yield from rows((b"k", b"row"))
        newer.append(TaskProducer(target, "query", 0))
        newer[0].begin(0)
        newer[0].producer.produce("out", b"row", b"k")
        # It commits while the older one finds out.
        threading.Timer(0.5, newer[0].commit, [0]).start()
        yield from rows((b"k", b"another row"))

    assert not write_batch(target, "query", 0, 0, overtaken())
    newer.pop().close()
    assert seen(penstock) == [b"row"]


def test_an_attempt_that_is_overtaken_fails_if_the_newer_one_does(
    penstock: Broker, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(producers, "_NOBODY_S", 0.3)

    def overtaken() -> Iterator[pa.RecordBatch]:
        newer = TaskProducer(target, "query", 0)
        newer.begin(0)
        newer.close()
        yield from rows((b"k", b"row"))

    with pytest.raises(KafkaException):
        write_batch(target, "query", 0, 0, overtaken())
    assert seen(penstock) == []
    assert write_batch(target, "query", 0, 0, rows((b"k", b"row")), 1)
    assert seen(penstock) == [b"row"]


def test_the_fence_of_another_checkpoint_skips_nothing(penstock: Broker, target: Target) -> None:
    write_batch(target, "old", 0, 57, rows((b"k", b"old")))
    assert write_batch(target, "new", 0, 0, rows((b"k", b"new")))
    reader = FenceReader(target)
    assert reader.read([0, 1], "new") == [1, 0]
    assert reader.read([0], "old") == [0]
    reader.close()
    assert seen(penstock) == [b"new", b"old"]


def test_a_task_that_fails_leaves_nothing(penstock: Broker, target: Target) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield from rows((b"k", b"half"))
        raise ValueError("the rest is lost")

    with pytest.raises(ValueError, match="the rest"):
        write_batch(target, "query", 0, 0, failing())
    # Not even for a while: what is open would hold up every reader.
    assert seen(penstock) == []
    assert write_batch(target, "query", 0, 0, rows((b"k", b"half"), (b"k", b"whole")))
    assert seen(penstock) == [b"half", b"whole"]


def test_nulls_stay_nulls(penstock: Broker, target: Target) -> None:
    write_batch(target, "query", 0, 0, rows((b"k", None), (None, b""), (b"", b"v")))
    found = {(each.key, each.value) for each in penstock.read("out", settings=COMMITTED)}
    assert found == {(b"k", None), (None, b""), (b"", b"v")}


def test_headers_and_topics_of_rows(penstock: Broker, target: Target) -> None:
    penstock.create_topic("elsewhere", 1)
    batch = pa.record_batch(
        {
            "key": pa.array([b"a", b"b"]),
            "value": pa.array([b"1", None], pa.binary()),
            "headers": pa.array(
                [[{"key": "h", "value": b"x"}, {"key": "h", "value": None}], None], HEADERS
            ),
            "topic": pa.array([None, "elsewhere"]),
        }
    )
    write_batch(target, "query", 0, 0, [batch])
    write_batch(target, "query", 0, 1, [batch.drop_columns(["headers"])])
    first, second = penstock.read("out", settings=COMMITTED)
    assert list(first.headers) == [("h", b"x"), ("h", None)]
    assert (first.value, second.value, list(second.headers)) == (b"1", b"1", [])
    assert [each.key for each in penstock.read("elsewhere", settings=COMMITTED)] == [b"b", b"b"]


def test_what_the_topic_takes_is_not_too_large(penstock: Broker, target: Target) -> None:
    """The topic's own limit counts, not a client's."""
    large = b"x" * 1_040_000
    write_batch(target, "query", 0, 0, rows((b"k", large)))
    assert seen(penstock) == [large]


def test_more_rows_than_the_queue_holds_keep_their_order(
    penstock: Broker, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.pipelines.sinks.write._CHUNK_ROWS", 50)
    monkeypatch.setattr("penstock.pipelines.sinks.write._UNSENT_MESSAGES_MAX", 100)
    numbers = [b"%d" % number for number in range(2_000)]
    write_batch(target, "query", 0, 0, rows(*((b"k", number) for number in numbers)))
    assert [each.value for each in penstock.read("out", settings=COMMITTED)] == numbers
