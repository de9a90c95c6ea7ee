"""How requests that cannot be served are refused: with Kafka 4.3's codes, in Kafka's fields."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record
from tests.node.wire_kit import Wire

TOPIC = "plain"
COMPACTED = "compacted"
DAY_MS = 86_400_000


@pytest.fixture
def wire(penstock: Any) -> Iterator[Wire]:
    penstock.create_topic(TOPIC, 1)
    penstock.create_topic(COMPACTED, 1, config={"cleanup.policy": "compact"})
    with Wire(penstock.bootstrap_servers) as connection:
        yield connection


def produce(wire: Wire, topic: str, batch: bytes | bytearray) -> Any:
    partition = PartitionProduceData(index=0, records=memoryview(batch))
    data = [TopicProduceData(name=topic, partition_data=[partition])]
    response = wire.call(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=data), 9)
    return response.responses[0].partition_responses[0]


@pytest.mark.parametrize(
    ("timestamp", "version"), [(-3, 6), (-4, 7), (-5, 8), (-6, 10)], ids=lambda one: str(one)
)
def test_a_point_in_the_log_has_a_version_it_came_with(
    wire: Wire, timestamp: int, version: int
) -> None:
    asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    topics = [ListOffsetsTopic(name=TOPIC, partitions=[asked])]
    request = ListOffsetsRequest(replica_id=-1, topics=topics)
    refused = wire.call(request, version).topics[0].partitions[0]
    served = wire.call(request, version + 1).topics[0].partitions[0]
    assert (refused.error_code, refused.offset) == (ErrorCode.UNSUPPORTED_VERSION, -1)
    assert served.error_code == ErrorCode.NONE


def test_a_topic_asked_for_twice_is_described_once(wire: Wire) -> None:
    topics = [MetadataRequestTopic(name=TOPIC), MetadataRequestTopic(name=TOPIC)]
    assert [topic.name for topic in wire.call(MetadataRequest(topics=topics), 9).topics] == [TOPIC]


def test_records_out_of_time_are_named(wire: Wire) -> None:
    now_ms = int(time.time() * 1000)
    late = now_ms + 10 * DAY_MS
    times = (now_ms, late, now_ms, late)
    batch = build_batch([Record(n, at, b"k", b"v", []) for n, at in enumerate(times)])
    answer = produce(wire, TOPIC, batch)
    assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
    assert [one.batch_index for one in answer.record_errors] == [1, 3]


def test_records_without_a_key_are_named_in_a_compacted_topic(wire: Wire) -> None:
    keys = (b"k", None, None)
    now_ms = int(time.time() * 1000)
    batch = build_batch([Record(n, now_ms, key, b"v", []) for n, key in enumerate(keys)])
    answer = produce(wire, COMPACTED, batch)
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [one.batch_index for one in answer.record_errors] == [1, 2]


def test_a_batch_refused_as_a_whole_names_no_record(wire: Wire) -> None:
    batch = bytes(build_batch([Record(0, int(time.time() * 1000), b"k", b"v", [])]))
    answer = produce(wire, TOPIC, batch + batch)
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert answer.record_errors == []


@pytest.mark.parametrize(("producer_id", "epoch"), [(5, -1), (-1, 3)])
def test_half_an_identity_is_none(wire: Wire, producer_id: int, epoch: int) -> None:
    request = InitProducerIdRequest(
        transactional_id=None, producer_id=producer_id, producer_epoch=epoch
    )
    answer = wire.call(request, 4)
    assert (answer.error_code, answer.producer_id) == (ErrorCode.INVALID_REQUEST, -1)


@pytest.mark.parametrize(("version", "protocol"), [(6, ""), (7, None), (9, None)])
def test_a_refused_member_learns_of_no_protocol(
    wire: Wire, version: int, protocol: str | None
) -> None:
    request = JoinGroupRequest(
        group_id="group",
        member_id="nobody",
        session_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    answer = wire.call(request, version)
    assert (answer.error_code, answer.protocol_name) == (ErrorCode.UNKNOWN_MEMBER_ID, protocol)


def test_offsets_of_partitions_that_are_not_there_cannot_be_deleted(wire: Wire) -> None:
    kept = OffsetCommitRequestPartition(partition_index=0, committed_offset=3)
    topics = [OffsetCommitRequestTopic(name=TOPIC, partitions=[kept])]
    wire.call(OffsetCommitRequest(group_id="group", topics=topics), 7)
    asked = [OffsetDeleteRequestPartition(partition_index=index) for index in (0, 9)]
    doomed = [OffsetDeleteRequestTopic(name=name, partitions=asked) for name in (TOPIC, "absent")]
    answer = wire.call(OffsetDeleteRequest(group_id="group", topics=doomed), 0)
    codes = [[one.error_code for one in topic.partitions] for topic in answer.topics]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == [[ErrorCode.NONE, unknown], [unknown, unknown]]
