"""What happens to data over time and across restarts: retention, deletion, epochs, producers."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record
from tests.node.test_fetch_rules import get, put
from tests.node.test_lookup_rules import ask
from tests.node.wire_kit import (
    PRODUCE_VERSION,
    Wire,
    part,
    produce,
    produced,
    recent,
    topic_id,
    values,
)
from tests.patience import wait_until

EARLIEST, LATEST = -2, -1
QUICK = {"log.retention.check.interval.ms": 50, "log.segment.delete.delay.ms": 100}


def delete_topic(wire: Wire, name: str) -> None:
    answer = wire.call(DeleteTopicsRequest(topics=[DeleteTopicState(name=name)]), 6)
    assert answer.responses[0].error_code == 0


# Retention


@pytest.mark.penstock(settings=QUICK)
def test_old_segments_go_and_the_rest_stays(penstock: Any) -> None:
    config = {"internal.segment.bytes": 200, "retention.ms": 1000}
    penstock.create_topic("a", config=config)
    with Wire(penstock.bootstrap_servers) as wire:
        for number in range(10):
            assert put(wire, "a", recent(b"%d" % number * 100)) == number
        wait_until(lambda: ask(wire, EARLIEST).offset == 10)
        assert ask(wire, LATEST).offset == 10
        gone = get(wire, {"a": [part(offset=3)]})["a", 0]
        assert gone.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        assert put(wire, "a", recent(b"new")) == 10
        directory = penstock.data_dir / "a-0"
        wait_until(lambda: not list(directory.glob("*.deleted")))
        assert len(list(directory.glob("*.log"))) <= 2
    penstock.restart()
    with Wire(penstock.bootstrap_servers) as wire:
        assert ask(wire, LATEST).offset == 11


def size_of(directory: Path) -> int:
    """Of a log whose segments may go while it is counted."""
    found = 0
    for file in directory.glob("*.log"):
        with suppress(FileNotFoundError):
            found += file.stat().st_size
    return found


@pytest.mark.penstock(settings=QUICK)
def test_retention_by_size_keeps_the_newest(penstock: Any) -> None:
    config = {"internal.segment.bytes": 1100, "retention.bytes": 5000}
    penstock.create_topic("a", config=config)
    with Wire(penstock.bootstrap_servers) as wire:
        for number in range(40):
            put(wire, "a", recent(b"%02d" % number * 450))
        # Six records: with one more the oldest goes, at the next check.
        wait_until(lambda: 4000 < size_of(penstock.data_dir / "a-0") < 6200)
        start = ask(wire, EARLIEST).offset
        assert start > 30
        kept = values(get(wire, {"a": [part(offset=start)]})["a", 0])
        assert kept == [b"%02d" % number * 450 for number in range(start, start + len(kept))]


@pytest.mark.penstock(settings={"log.cleaner.backoff.ms": 50})
def test_what_is_compacted_expires_with_the_cleaners_rounds(penstock: Any) -> None:
    for name, policy in (("both", "compact,delete"), ("compacted", "compact")):
        config = {"cleanup.policy": policy, "internal.segment.bytes": 200, "retention.ms": 500}
        penstock.create_topic(name, config=config)
    with Wire(penstock.bootstrap_servers) as wire:
        for number in range(5):
            for name in ("both", "compacted"):
                now_ms = time.time_ns() // 1_000_000
                put(wire, name, build_batch([Record(0, now_ms, b"%d" % number, b"v" * 100, [])]))
        wait_until(lambda: ask(wire, EARLIEST, topic="both").offset == 5)
        assert ask(wire, EARLIEST, topic="compacted").offset == 0


@pytest.mark.penstock(settings=QUICK)
def test_infinite_retention_keeps_what_is_old(penstock: Any) -> None:
    penstock.create_topic("a", config={"internal.segment.bytes": 200, "retention.ms": -1})
    with Wire(penstock.bootstrap_servers) as wire:
        for _ in range(5):
            put(wire, "a", build_batch([Record(0, 1_000_000, None, b"x" * 100, [])]))
        time.sleep(0.3)
        assert ask(wire, EARLIEST).offset == 0


# Flushing


def checkpoint(broker: Any) -> dict[str, int]:
    path = broker.data_dir / "recovery-point-offset-checkpoint"
    lines = path.read_text().splitlines()[2:] if path.exists() else []
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}


@pytest.mark.penstock(settings={"log.flush.offset.checkpoint.interval.ms": 50})
def test_flush_settings_decide_when_records_are_synced(penstock: Any) -> None:
    penstock.create_topic("at-once")
    penstock.create_topic("by-count", config={"flush.messages": 10})
    penstock.create_topic("by-time", config={"flush.messages": 10**9, "flush.ms": 300})
    penstock.create_topic("never", config={"flush.messages": 10**9})
    with Wire(penstock.bootstrap_servers) as wire:
        for topic in ("at-once", "by-count", "by-time", "never"):
            for _ in range(5):
                put(wire, topic, recent(b"x"))
        wait_until(lambda: checkpoint(penstock).get("at-once 0") == 5)
        assert checkpoint(penstock).get("by-count 0", 0) == 0
        for _ in range(5):
            put(wire, "by-count", recent(b"x"))
        wait_until(lambda: checkpoint(penstock).get("by-count 0") == 10)
        wait_until(lambda: checkpoint(penstock).get("by-time 0") == 5)
        assert checkpoint(penstock).get("never 0", 0) == 0
    # A killed process loses none of it all the same: the kernel has it.
    penstock.kill()
    penstock.start()
    assert len(penstock.read("never")) == 5


# Deleting


@pytest.mark.penstock(settings={"log.segment.delete.delay.ms": 1000})
def test_a_deleted_topic_leaves_the_disk_after_the_delay(penstock: Any) -> None:
    penstock.create_topic("a", 2)
    penstock.produce("a", ["x"] * 10)
    with Wire(penstock.bootstrap_servers) as wire:
        delete_topic(wire, "a")
    left = [path.name for path in penstock.data_dir.iterdir() if path.name.startswith("a-")]
    assert left
    assert all(name.endswith("-delete") for name in left)
    wait_until(lambda: not list(penstock.data_dir.glob("a-*")))


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_topic_made_again_under_its_name_is_empty(penstock: Any, how: str) -> None:
    penstock.create_topic("a", 1)
    penstock.produce("a", ["old"] * 5)
    with Wire(penstock.bootstrap_servers) as wire:
        first = topic_id(wire, "a")
        delete_topic(wire, "a")
        penstock.create_topic("a", 1)
        second = topic_id(wire, "a")
        assert first != second
        assert ask(wire, LATEST).offset == 0
    getattr(penstock, how)()
    penstock.start()
    with Wire(penstock.bootstrap_servers) as wire:
        assert topic_id(wire, "a") == second
        assert (ask(wire, EARLIEST).offset, ask(wire, LATEST).offset) == (0, 0)
        assert put(wire, "a", recent(b"new")) == 0
    assert [each.value for each in penstock.read("a")] == [b"new"]
    # And once more, with the directory of the topic of before still lying around.
    penstock.kill()
    penstock.start()
    assert [each.value for each in penstock.read("a")] == [b"new"]


def test_deleted_topics_do_not_come_back_after_a_crash(penstock: Any) -> None:
    penstock.create_topic("a", 3)
    penstock.produce("a", ["old"] * 5)
    with Wire(penstock.bootstrap_servers) as wire:
        delete_topic(wire, "a")
    penstock.kill()
    penstock.start()
    with Wire(penstock.bootstrap_servers) as wire:
        assert wire.call(MetadataRequest(topics=None), 9).topics == []


def test_deleted_records_stay_deleted(penstock: Any) -> None:
    penstock.create_topic("a", 1)
    penstock.produce("a", [f"{number}" for number in range(10)])

    def delete(wire: Wire, offset: int) -> Any:
        partition = DeleteRecordsPartition(partition_index=0, offset=offset)
        topic = DeleteRecordsTopic(name="a", partitions=[partition])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=1000)
        return wire.call(request, 2).topics[0].partitions[0]

    with Wire(penstock.bootstrap_servers) as wire:
        assert delete(wire, 4).low_watermark == 4
        assert delete(wire, 99).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    penstock.restart()
    assert [each.offset for each in penstock.read("a")] == list(range(4, 10))
    with Wire(penstock.bootstrap_servers) as wire:
        assert delete(wire, 7).low_watermark == 7
    penstock.kill()
    penstock.start()
    assert [each.offset for each in penstock.read("a")] == [7, 8, 9]
    with Wire(penstock.bootstrap_servers) as wire:
        assert delete(wire, -1).low_watermark == 10
    penstock.restart()
    assert penstock.read("a") == []
    assert penstock.produce("a", "on")[0].offset == 10


# Producers


class Producer:
    def __init__(self, wire: Wire) -> None:
        answer = wire.call(InitProducerIdRequest(transactional_id=None), 4)
        assert answer.error_code == 0
        self.id = answer.producer_id

    def send(self, wire: Wire, sequence: int) -> tuple[int, int]:
        data = recent(
            b"%d" % sequence, producer_id=self.id, producer_epoch=0, base_sequence=sequence
        )
        answer = produced(wire.call(produce("a", data), PRODUCE_VERSION))
        return answer.error_code, answer.base_offset


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_retries_are_recognised_across_a_restart(penstock: Any, how: str) -> None:
    penstock.create_topic("a", config={"internal.segment.bytes": 400})
    with Wire(penstock.bootstrap_servers) as wire:
        producers = [Producer(wire) for _ in range(3)]
        offsets = {}
        for sequence in range(12):
            for producer in producers:
                code, offset = producer.send(wire, sequence)
                assert code == 0
                offsets[producer.id, sequence] = offset
    getattr(penstock, how)()
    penstock.start()
    with Wire(penstock.bootstrap_servers) as wire:
        for producer in producers:
            # The last five are known, each with the offset it got; a snapshot knows the last one.
            for sequence in range(7 if how == "kill" else 11, 12):
                assert producer.send(wire, sequence) == (0, offsets[producer.id, sequence])
            assert producer.send(wire, 2)[0] in (
                ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            )
            assert producer.send(wire, 14)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            assert producer.send(wire, 12)[0] == 0
        assert Producer(wire).id not in {producer.id for producer in producers}
    assert len(penstock.read("a")) == 39


def test_a_silent_producer_is_forgotten(penstock_factory: Callable[..., Any]) -> None:
    settings = {"producer.id.expiration.ms": 1500, "producer.id.expiration.check.interval.ms": 50}
    broker = penstock_factory(settings)
    broker.create_topic("a")
    with Wire(broker.bootstrap_servers) as wire:
        producer = Producer(wire)
        assert producer.send(wire, 0) == (0, 0)
        assert producer.send(wire, 0) == (0, 0)

        def is_forgotten() -> bool:
            time.sleep(1.7)
            return bool(producer.send(wire, 0) == (0, 1))

        wait_until(is_forgotten)


# Leader epochs


def leader_epoch(wire: Wire) -> int:
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="a")])
    epoch: int = wire.call(asked, 9).topics[0].partitions[0].leader_epoch
    return epoch


def end_of_epoch(wire: Wire, epoch: int) -> tuple[int, int]:
    partition = OffsetForLeaderPartition(partition=0, current_leader_epoch=-1, leader_epoch=epoch)
    topic = OffsetForLeaderTopic(topic="a", partitions=[partition])
    request = OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic])
    answer = wire.call(request, 4).topics[0].partitions[0]
    assert answer.error_code == 0
    return answer.leader_epoch, answer.end_offset


def test_ends_of_epochs(penstock: Any) -> None:
    penstock.create_topic("a")
    ends = {}
    for number in range(3):
        with Wire(penstock.bootstrap_servers) as wire:
            epoch = leader_epoch(wire)
            put(wire, "a", recent(b"x", b"y"))
            ends[epoch] = 2 * (number + 1)
            for known, end in ends.items():
                assert end_of_epoch(wire, known) == (known, end)
            assert end_of_epoch(wire, epoch + 1) == (-1, -1)
        penstock.kill() if number else penstock.stop()
        penstock.start()
    # What a crash may have cut off has another epoch than what is written after it.
    assert len(ends) == 2


def test_an_epoch_that_wrote_nothing_ended_where_the_next_began(penstock: Any) -> None:
    penstock.create_topic("a")
    with Wire(penstock.bootstrap_servers) as wire:
        assert ask(wire, EARLIEST).leader_epoch == 0
        assert end_of_epoch(wire, 0) == (0, 0)
        put(wire, "a", recent(b"x"))
    told: list[int] = []
    for _ in range(3):
        penstock.kill()
        penstock.start()
        with Wire(penstock.bootstrap_servers) as wire:
            latest = ask(wire, LATEST)
            assert latest.offset == 1
            told.append(latest.leader_epoch)
            assert end_of_epoch(wire, latest.leader_epoch) == (latest.leader_epoch, 1)
            # Whoever got the end of the log with an earlier epoch has lost nothing.
            assert all(end_of_epoch(wire, epoch)[1] == 1 for epoch in told)
    assert told == sorted(set(told))


def test_topics_used_before_they_are_made_have_three_partitions(penstock: Any) -> None:
    penstock.produce("fresh", [f"{number}" for number in range(30)])
    assert {path.name for path in penstock.data_dir.glob("fresh-*")} <= {
        "fresh-0",
        "fresh-1",
        "fresh-2",
    }
    with Wire(penstock.bootstrap_servers) as wire:
        found = wire.call(MetadataRequest(topics=[MetadataRequestTopic(name="fresh")]), 9)
        assert len(found.topics[0].partitions) == 3
    assert len(penstock.read("fresh")) == 30
    assert Path(penstock.data_dir / "__cluster_metadata-0").exists()
