"""Files that are not what they were, under a node that runs or starts; and very many to remove."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record
from penstock.testing.broker import Broker
from tests.hostile.target import Target
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    batch,
    fetch,
    fetched,
    part,
    produce,
    produced,
    recent,
    values,
)
from tests.patience import wait_until

PARTITIONS = int(os.environ.get("PENSTOCK_HOSTILE_PARTITIONS", "1500"))
SMALL = {"internal.segment.bytes": "2000", "index.interval.bytes": "100"}
STORAGE_ERROR = 56


def fill(wire: Wire, topic: str, count: int = 60) -> list[bytes | None]:
    sent: list[bytes | None] = []
    for number in range(count):
        value = b"%d" % number
        assert produced(wire.call(produce(topic, recent(value)), PRODUCE_VERSION)).error_code == 0
        sent.append(value)
    return sent


def read(wire: Wire, topic: str, count: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    while len(found) < count:
        (one,) = fetched(
            wire.call(fetch({topic: [part(offset=len(found))]}), FETCH_VERSION)
        ).values()
        assert one.error_code == 0
        found += values(one)
    return found


def only_penstock(target: Target) -> Broker:
    if not isinstance(target.broker, Broker):
        pytest.skip("Apache Kafka takes the whole directory offline, and ends")
    return target.broker


def test_indexes_are_overwritten_under_a_running_node(target: Target) -> None:
    only_penstock(target)
    target.create_topic("t", config=SMALL)
    with target.wire() as wire, target.watched("random bytes in the indexes of a topic in use"):
        sent = fill(wire, "t")
        chance = Random(1)
        for path in sorted((target.data_dir / "t-0").glob("*index"))[:-2]:
            path.write_bytes(chance.randbytes(path.stat().st_size))
        assert read(wire, "t", len(sent)) == sent
    assert "are made anew" in target.log


def test_small_files_are_damaged_between_two_starts(target: Target) -> None:
    broker = only_penstock(target)
    target.create_topic("t", config=SMALL)
    with target.wire() as wire:
        sent = fill(wire, "t")
    for end in (broker.stop, broker.kill, broker.stop):
        end()
        chance = Random(2)
        home = target.data_dir
        for path in [*home.glob("t-0/*index"), *home.glob("t-0/*.snapshot")]:
            path.write_bytes(chance.randbytes(1 + path.stat().st_size))
        for name in (
            "t-0/leader-epoch-checkpoint",
            "t-0/partition.metadata",
            "recovery-point-offset-checkpoint",
            "replication-offset-checkpoint",
            "log-start-offset-checkpoint",
            "cleaner-offset-checkpoint",
            "__cluster_metadata-0/quorum-state",
            ".kafka_cleanshutdown",
        ):
            (home / name).write_bytes(chance.randbytes(100))
        broker.start()
        with target.watched("every small file of a directory damaged"), target.wire() as wire:
            assert read(wire, "t", len(sent)) == sent
            assert "goes offline" not in target.log


@pytest.mark.penstock(settings={"log.retention.check.interval.ms": "100"})
def test_retention_goes_on_beside_a_partition_that_is_damaged(target: Target) -> None:
    """Garbage in one file once ended the upkeep of all topics, and nothing was logged."""
    broker = only_penstock(target)
    for name in ("broken", "short"):
        target.create_topic(name, config={**SMALL, "retention.ms": "1000"})
        with target.wire() as wire:
            fill(wire, name, 20)
    broker.stop()
    (target.data_dir / "broken-0" / "partition.metadata").write_bytes(os.urandom(60))
    log = target.data_dir / "broken-0" / "00000000000000000000.log"
    log.write_bytes(os.urandom(log.stat().st_size))
    last = max((target.data_dir / "broken-0").glob("*.log"))
    last.write_bytes(os.urandom(1000))
    broker.start()
    with target.watched("one partition damaged, others expire"):
        segments = target.data_dir / "short-0"
        wait_until(lambda: len(list(segments.glob("*.log"))) == 1, "nothing expired")
        with target.wire() as wire:
            answer = produced(wire.call(produce("broken", batch(b"x")), PRODUCE_VERSION))
            assert answer.error_code == STORAGE_ERROR
            fill(wire, "short", 1)
    assert target.log.count("broken-0 goes offline") == 1
    assert str(last) in target.log


@pytest.mark.penstock(
    settings={"log.cleaner.backoff.ms": "100", "log.retention.check.interval.ms": "100"}
)
def test_a_directory_of_a_partition_is_taken_away(target: Target) -> None:
    only_penstock(target)
    for name in ("gone", "here"):
        target.create_topic(name, config={**SMALL, "cleanup.policy": "compact"})
    with target.watched("rm -r of a partition in use"), target.wire() as wire:
        for name in ("gone", "here"):
            assert key_produced(wire, name) == 0
        for path in (target.data_dir / "gone-0").iterdir():
            path.unlink()
        (target.data_dir / "gone-0").rmdir()
        for _ in range(40):
            assert key_produced(wire, "gone") in (0, STORAGE_ERROR)
            assert key_produced(wire, "here") == 0
    assert target.log.count("gone-0 goes offline") <= 1


def key_produced(wire: Wire, topic: str) -> int:
    data = build_batch([Record(0, time.time_ns() // 1_000_000, b"k", b"x" * 100)])
    code: int = produced(wire.call(produce(topic, data), PRODUCE_VERSION)).error_code
    return code


@pytest.mark.penstock(settings={"log.cleaner.backoff.ms": "50"})
def test_the_process_that_compacts_is_killed(target: Target) -> None:
    only_penstock(target)
    config = {**SMALL, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    target.create_topic("t", config=config)
    with target.watched("kill -9 of the compacting process"), target.wire() as wire:
        deadline = time.monotonic() + 20
        while "put off" not in target.log and time.monotonic() < deadline:
            assert key_produced(wire, "t") == 0
            for child in children(target.pid):
                # It may just have ended by itself.
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        assert "put off" in target.log
        assert key_produced(wire, "t") == 0


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        path = task / "children"
        if path.exists():
            found += [int(each) for each in path.read_text().split()]
    return found


@pytest.mark.penstock(settings={"log.segment.delete.delay.ms": "0"})
def test_very_many_partitions_are_deleted(target: Target) -> None:
    """Their directories are renamed at once, and emptied beside the requests."""
    target.create_topic("many", partitions=PARTITIONS, config={"flush.messages": str(2**63 - 1)})
    touch_all(target, "many", PARTITIONS)
    assert len(list(target.data_dir.glob("many-*"))) == PARTITIONS
    with target.watched(f"deletion of {PARTITIONS} partitions"), target.wire() as wire:
        delete = DeleteTopicsRequest(topics=[DeleteTopicState(name="many")], timeout_ms=30_000)
        assert wire.call(delete, 6).responses[0].error_code == 0
        wait_until(
            lambda: not list(target.data_dir.glob("many-*")), "the directories stay", patience_s=60
        )


@pytest.mark.penstock(settings={"log.segment.delete.delay.ms": "60000"})
def test_what_was_to_be_deleted_goes_after_a_crash(target: Target) -> None:
    broker = only_penstock(target)
    target.create_topic("many", partitions=300, config={"flush.messages": str(2**63 - 1)})
    touch_all(target, "many", 300)
    with target.wire() as wire:
        delete = DeleteTopicsRequest(topics=[DeleteTopicState(name="many")], timeout_ms=30_000)
        assert wire.call(delete, 6).responses[0].error_code == 0
    broker.kill()
    assert len(list(target.data_dir.glob("many-*"))) == 300
    broker.start()
    with target.watched("leftovers of 300 partitions"):
        wait_until(lambda: not list(target.data_dir.glob("many-*")), "the directories stay")


def touch_all(target: Target, topic: str, count: int) -> None:
    with target.wire(60) as wire:
        for start in range(0, count, 100):
            parts = [
                PartitionProduceData(index=index, records=bytes(batch(b"x")))
                for index in range(start, min(start + 100, count))
            ]
            request = ProduceRequest(
                transactional_id=None,
                acks=-1,
                timeout_ms=30_000,
                topic_data=[TopicProduceData(name=topic, partition_data=parts)],
            )
            wait_until(
                lambda request=request: is_taken(wire, request), "partitions not led", patience_s=60
            )


def is_taken(wire: Wire, request: ProduceRequest) -> bool:
    """Apache Kafka answers NOT_LEADER_OR_FOLLOWER for a moment after it has made a topic."""
    (answer,) = wire.call(request, PRODUCE_VERSION).responses
    codes = {one.error_code for one in answer.partition_responses}
    assert codes <= {0, 3, 6}
    return codes == {0}
