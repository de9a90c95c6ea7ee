"""What one request names twice: which of the two counts, and how often it is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from penstock.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
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
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.header import iter_batches
from penstock.records.record import Record, iter_records
from tests.conformance.clients.raw import Connection
from tests.patience import wait_until

pytestmark = pytest.mark.client("raw requests")

NOWHERE = 9
"""A partition that no topic here has."""
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _produced(topic: str, *values: tuple[int, bytes]) -> TopicProduceData:
    data = [
        PartitionProduceData(index=index, records=build_batch([Record(0, 1, None, value, [])]))
        for index, value in values
    ]
    return TopicProduceData(name=topic, partition_data=data)


def _produce(connection: Connection, *topics: TopicProduceData) -> dict[int, int]:
    """By partition, of the one topic that is answered: the offset."""
    request = ProduceRequest(acks=-1, timeout_ms=5000, topic_data=topics)
    (answer,) = connection.call(request, 12).responses
    offsets = {one.index: one.base_offset for one in answer.partition_responses}
    assert len(offsets) == len(answer.partition_responses)
    return offsets


def _written(connection: Connection, topic: str) -> list[bytes | None]:
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(topics=[FetchTopic(topic=topic, partitions=[asked])])
    (partition,) = connection.call(request, 12).responses[0].partitions
    log = bytes(partition.records)
    batches = (log[at : at + header.size] for at, header in iter_batches(log, 0, len(log)))
    return [record.value for batch in batches for record in iter_records(batch)]


@pytest.mark.feature("Records for a partition that is named twice: the last are written")
@pytest.mark.one_node("the partitions of one request have one leader there")
def test_produced_twice(connection: Connection, make_topic: Callable[..., str]) -> None:
    topic = make_topic(partitions=2)
    once = _produce(connection, _produced(topic, (0, b"1"), (1, b"other"), (0, b"2")))
    again = _produce(
        connection,
        _produced(topic, (0, b"3")),
        _produced(topic, (1, b"other")),
        _produced(topic, (0, b"4")),
    )
    assert [once, again] == [{0: 0, 1: 0}, {0: 1, 1: 1}]
    assert _written(connection, topic) == [b"2", b"4"]


@pytest.mark.feature("A topic without partitions is left out of the answer to a produce")
def test_produced_nothing(connection: Connection, topic: str) -> None:
    nothing = TopicProduceData(name=f"{topic}-other")
    assert _produce(connection, _produced(topic, (0, b"1")), nothing) == {0: 0}


@pytest.mark.feature("Acknowledgements that there are not, of a partition that there is not")
def test_unknown_acks(connection: Connection, topic: str) -> None:
    data = _produced(topic, (0, b"1"), (NOWHERE, b"1"))
    (answer,) = connection.call(ProduceRequest(acks=5, topic_data=[data]), 12).responses
    assert {one.index: one.error_code for one in answer.partition_responses} == {
        0: ErrorCode.INVALID_REQUIRED_ACKS,
        NOWHERE: UNKNOWN,
    }


@pytest.mark.feature("Offsets of a partition that is named twice are answered once")
@pytest.mark.one_node("the partitions of one request have one leader there")
def test_listed_twice(connection: Connection, make_topic: Callable[..., str]) -> None:
    topic = make_topic(partitions=2)
    topics = [
        ListOffsetsTopic(
            name=topic, partitions=[ListOffsetsPartition(partition_index=index, timestamp=-2)]
        )
        for index in (0, 1, 0)
    ]
    (answer,) = connection.call(ListOffsetsRequest(topics=topics), 7).topics
    found = sorted((one.partition_index, one.error_code) for one in answer.partitions)
    assert found == [(0, ErrorCode.INVALID_REQUEST), (1, ErrorCode.NONE)]


@pytest.mark.feature("Records deleted twice in one request: the last offset counts")
def test_records_deleted_twice(connection: Connection, topic: str) -> None:
    for _ in range(3):
        _produce(connection, _produced(topic, (0, b"1")))
    topics = [
        DeleteRecordsTopic(
            name=topic, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)]
        )
        for offset in (2, 1)
    ]
    (answer,) = connection.call(DeleteRecordsRequest(topics=topics, timeout_ms=20_000), 2).topics
    assert [(one.error_code, one.low_watermark) for one in answer.partitions] == [(0, 1)]


def _commit(topic: str, *offsets: tuple[int, int]) -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(
        name=topic,
        partitions=[
            OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
            for index, offset in offsets
        ],
    )


@pytest.mark.feature("Offsets committed twice in one request: the last one counts")
def test_committed_twice(connection: Connection, topic: str, group_id: str) -> None:
    topics = [_commit(topic, (0, 5)), _commit(topic, (0, 3))]
    connection.call(OffsetCommitRequest(group_id=group_id, topics=topics), 9)
    asked = [OffsetFetchRequestTopics(name=topic, partition_indexes=[0])]
    fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=asked)])
    (answer,) = connection.call(fetch, 9).groups[0].topics
    assert answer.partitions[0].committed_offset == 3


@pytest.mark.feature("A commit for partitions that are there and not: one answer for the topic")
def test_committed_in_part(connection: Connection, topic: str, group_id: str) -> None:
    topics = [_commit(topic, (0, 5), (NOWHERE, 1))]
    (answer,) = connection.call(OffsetCommitRequest(group_id=group_id, topics=topics), 9).topics
    assert _codes(answer) == {0: ErrorCode.NONE, NOWHERE: UNKNOWN}
    parts = [OffsetDeleteRequestPartition(partition_index=index) for index in (0, NOWHERE)]
    wanted = [OffsetDeleteRequestTopic(name=topic, partitions=[one]) for one in parts]
    delete = OffsetDeleteRequest(group_id=group_id, topics=wanted)
    (answer,) = connection.call(delete, 0).topics
    assert _codes(answer) == {0: ErrorCode.NONE, NOWHERE: UNKNOWN}


def _codes(topic: Any) -> dict[int, int]:
    return {one.partition_index: one.error_code for one in topic.partitions}


def _begin(connection: Connection, transactional_id: str) -> InitProducerIdResponse:
    """The first one of all has to wait until there is a coordinator."""
    find = FindCoordinatorRequest(key_type=1, key=transactional_id)
    wait_until(lambda: connection.call(find, 3).error_code == ErrorCode.NONE)
    begin = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000)
    told: list[InitProducerIdResponse] = []

    def has_begun() -> bool:
        told.append(connection.call(begin, 4))
        return told[-1].error_code == ErrorCode.NONE

    wait_until(has_begun)
    return told[-1]


@pytest.mark.feature("A partition is added to a transaction twice: answered as often")
def test_added_twice(connection: Connection, topic: str) -> None:
    begun = _begin(connection, topic)
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=topic,
        v3_and_below_producer_id=begun.producer_id,
        v3_and_below_producer_epoch=begun.producer_epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0, 0])],
    )
    (answer,) = connection.call(request, 3).results_by_topic_v3_and_below
    told = [(one.partition_index, one.partition_error_code) for one in answer.results_by_partition]
    assert told == [(0, 0), (0, 0)]


def _quota(user: str, rate: float | None) -> RequestEntryData:
    return RequestEntryData(
        entity=[RequestEntityData(entity_type="user", entity_name=user)],
        ops=[OpData(key="producer_byte_rate", value=rate or 0.0, remove=rate is None)],
    )


@pytest.mark.feature("A quota that is set twice in one request: the first counts, and it is told")
def test_quota_set_twice(connection: Connection, topic_name: str) -> None:
    entries = [_quota(topic_name, 4e9), _quota(topic_name, 5e9)]
    (answer,) = connection.call(AlterClientQuotasRequest(entries=entries), 1).entries
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    ours = ComponentData(entity_type="user", match_type=0, match=topic_name)
    describe = DescribeClientQuotasRequest(components=[ours], strict=True)
    wait_until(lambda: bool(connection.call(describe, 1).entries))
    (told,) = connection.call(describe, 1).entries
    assert [one.value for one in told.values] == [4e9]
    connection.call(AlterClientQuotasRequest(entries=[_quota(topic_name, None)]), 1)
    wait_until(lambda: not connection.call(describe, 1).entries)
