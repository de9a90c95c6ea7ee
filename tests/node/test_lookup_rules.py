"""ListOffsets at every special timestamp, and Metadata by name, by id and of everything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.records.builder import build_batch
from tests.node.test_fetch_rules import open_transaction, put
from tests.node.wire_kit import NOW_MS, Wire, batch, records, topic_id

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, PENDING_UPLOAD = range(-1, -7, -1)


@pytest.fixture
def wire(penstock: Any) -> Iterator[Wire]:
    penstock.create_topic("a", 1)
    with Wire(penstock.bootstrap_servers) as connection:
        yield connection


def ask(wire: Wire, timestamp: int, version: int = 11, **more: Any) -> Any:
    isolation = more.pop("isolation_level", 0)
    topic = more.pop("topic", "a")
    asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp, **more)
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation,
        timeout_ms=1000,
        topics=[ListOffsetsTopic(name=topic, partitions=[asked])],
    )
    return wire.call(request, version).topics[0].partitions[0]


def found(answer: Any) -> tuple[int, int]:
    assert answer.error_code == 0
    return answer.timestamp, answer.offset


def test_an_empty_log(wire: Wire) -> None:
    assert found(ask(wire, LATEST)) == (-1, 0)
    assert found(ask(wire, EARLIEST)) == (-1, 0)
    assert found(ask(wire, EARLIEST_LOCAL)) == (-1, 0)
    for timestamp in (MAX_TIMESTAMP, LATEST_TIERED, 0, NOW_MS):
        assert found(ask(wire, timestamp)) == (-1, -1)


def test_every_special_timestamp(wire: Wire) -> None:
    put(wire, "a", batch(b"0", b"1", b"2"))  # at NOW_MS, + 1, + 2
    put(wire, "a", build_batch(records([b"3", b"4"], NOW_MS + 900)))
    put(wire, "a", build_batch(records([b"5"], NOW_MS + 100)))
    assert found(ask(wire, LATEST)) == (-1, 6)
    assert found(ask(wire, EARLIEST)) == (-1, 0)
    assert found(ask(wire, MAX_TIMESTAMP)) == (NOW_MS + 901, 4)
    assert found(ask(wire, 0)) == (NOW_MS, 0)
    assert found(ask(wire, NOW_MS + 1)) == (NOW_MS + 1, 1)
    assert found(ask(wire, NOW_MS + 3)) == (NOW_MS + 900, 3)
    assert found(ask(wire, NOW_MS + 902)) == (-1, -1)
    for version in range(1, 12):
        assert found(ask(wire, LATEST, version)) == (-1, 6)
        assert ask(wire, LATEST, version).leader_epoch == (0 if version >= 4 else -1)
    deleted = DeleteRecordsPartition(partition_index=0, offset=2)
    topic = DeleteRecordsTopic(name="a", partitions=[deleted])
    result = wire.call(DeleteRecordsRequest(topics=[topic], timeout_ms=1000), 2)
    assert result.topics[0].partitions[0].low_watermark == 2
    assert found(ask(wire, EARLIEST)) == (-1, 2)
    assert found(ask(wire, EARLIEST_LOCAL)) == (-1, 2)
    assert found(ask(wire, 0)) == (NOW_MS + 2, 2)


@pytest.mark.parametrize("codec", range(5))
def test_times_in_batches_that_a_thread_reads(wire: Wire, codec: int) -> None:
    """Compressed, or with many records; looked for between requests that are answered at once."""
    first = [b"%d" % number for number in range(1500)]
    put(wire, "a", build_batch(records(first), codec=codec))  # from NOW_MS on
    put(wire, "a", build_batch(records(first, NOW_MS + 5000), codec=codec))
    assert found(ask(wire, NOW_MS + 1400)) == (NOW_MS + 1400, 1400)
    assert found(ask(wire, NOW_MS + 1501)) == (NOW_MS + 5000, 1500)
    assert found(ask(wire, MAX_TIMESTAMP)) == (NOW_MS + 6499, 2999)
    assert found(ask(wire, NOW_MS + 6500)) == (-1, -1)
    deleted = DeleteRecordsPartition(partition_index=0, offset=1450)
    topic = DeleteRecordsTopic(name="a", partitions=[deleted])
    wire.call(DeleteRecordsRequest(topics=[topic], timeout_ms=1000), 2)
    assert found(ask(wire, NOW_MS)) == (NOW_MS + 1450, 1450)


def test_isolation_and_epochs(wire: Wire, penstock: Any) -> None:
    put(wire, "a", batch(b"0"))
    with open_transaction(penstock, "a", b"open"):
        assert found(ask(wire, LATEST)) == (-1, 2)
        assert found(ask(wire, LATEST, isolation_level=1)) == (-1, 1)
    assert found(ask(wire, LATEST, isolation_level=1)) == (-1, 3)
    newer = ask(wire, LATEST, current_leader_epoch=5)
    assert newer.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def describe(wire: Wire, version: int, topics: list[Any] | None, **more: Any) -> Any:
    return wire.call(MetadataRequest(topics=topics, **more), version)


def test_metadata_of_everything_and_of_nothing(wire: Wire, penstock: Any) -> None:
    penstock.create_topic("other", 2)
    for version in range(13):
        everything = describe(wire, version, None if version else [])
        assert [each.name for each in everything.topics] == ["a", "other"]
        assert [len(each.partitions) for each in everything.topics] == [1, 2]
        assert len(everything.brokers) == 1
        if version:
            assert everything.controller_id == everything.brokers[0].node_id
            assert describe(wire, version, []).topics == []


def test_metadata_by_id(wire: Wire) -> None:
    number = topic_id(wire, "a")
    for version in (12, 13):
        (topic,) = describe(
            wire, version, [MetadataRequestTopic(topic_id=number, name=None)]
        ).topics
        assert (topic.error_code, topic.name, topic.topic_id) == (0, "a", number)
        asked = MetadataRequestTopic(topic_id=b"\x09" * 16, name=None)
        (topic,) = describe(wire, version, [asked]).topics
        assert (topic.error_code, topic.name) == (ErrorCode.UNKNOWN_TOPIC_ID, None)


@pytest.mark.parametrize("name", ["", ".", "..", "white space", "slash/ed", "x" * 250])
def test_metadata_of_a_name_that_cannot_be(wire: Wire, name: str) -> None:
    for creates in (True, False):
        asked = [MetadataRequestTopic(name=name)]
        (topic,) = describe(wire, 9, asked, allow_auto_topic_creation=creates).topics
        assert topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION, creates
    assert [each.name for each in describe(wire, 9, None).topics] == ["a"]


def made_by_use(wire: Wire, name: str) -> Any:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        (topic,) = describe(wire, 12, [MetadataRequestTopic(name=name)]).topics
        if is_there(topic):
            return topic
        time.sleep(0.01)
    raise TimeoutError(f"{name} was not made")


def is_there(topic: Any) -> bool:
    return topic.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_who_looks_twice_in_a_row_is_told_the_same(penstock: Any) -> None:
    """kafka-go does: a topic that was there the second time alone it would never read."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name="fresh")])
    with Wire(penstock.bootstrap_servers) as wire, Wire(penstock.bootstrap_servers) as other:
        wire.send_together([request, request], 12)
        told = [wire.receive().topics[0].error_code for _ in range(2)]
        assert told == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2
        (topic,) = other.call(request, 12).topics
        assert is_there(topic), "whoever else asks waits for it"
        assert is_there(made_by_use(wire, "fresh"))


def test_topics_come_into_being_when_asked_for(wire: Wire) -> None:
    asked = [MetadataRequestTopic(name="fresh")]
    (topic,) = describe(wire, 9, asked, allow_auto_topic_creation=False).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topic = made_by_use(wire, "fresh")
    assert (topic.error_code, len(topic.partitions)) == (0, 3)
    assert topic.topic_id != ZERO_ID
    assert {each.leader_id for each in topic.partitions} == {1}
    assert {tuple(each.replica_nodes) for each in topic.partitions} == {(1,)}


def test_a_topic_that_was_told_is_there(wire: Wire) -> None:
    for number in range(20):
        topic = made_by_use(wire, f"fresh-{number}")
        assert len(topic.partitions) == 3
        assert found(ask(wire, LATEST, topic=topic.name)) == (-1, 0)


@pytest.mark.penstock(settings={"auto.create.topics.enable": False})
def test_or_not(penstock: Any) -> None:
    with Wire(penstock.bootstrap_servers) as wire:
        (topic,) = describe(wire, 9, [MetadataRequestTopic(name="fresh")]).topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
