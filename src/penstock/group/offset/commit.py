"""OffsetCommit and TxnOffsetCommit: which partitions are taken, and the records for them."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.group.config import GroupConfig
from penstock.group.record import GroupRecord, offset_commit_record
from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID, TopicId
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from penstock.protocol.messages.records.offset_commit import OffsetCommitValue
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_NO_EXPIRY = -1
_NEVER_MS = 2**63 - 1

CommitPartition = OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition


def commit(
    request: OffsetCommitRequest, config: GroupConfig, now_ms: int
) -> tuple[list[GroupRecord], OffsetCommitResponse]:
    records: list[GroupRecord] = []
    expire_ms = _NO_EXPIRY
    if request.retention_time_ms != -1:
        expire_ms = min(now_ms + request.retention_time_ms, _NEVER_MS)
    topics = []
    for topic in request.topics:
        name, topic_id = topic.name, topic.topic_id
        results = []
        for one in topic.partitions:
            index, error = one.partition_index, _partition_error(one, config)
            results.append(OffsetCommitResponsePartition(partition_index=index, error_code=error))
            if error is ErrorCode.NONE:
                value = _value(one, topic_id, now_ms, expire_ms)
                records.append(offset_commit_record(request.group_id, name, index, value))
        topics.append(OffsetCommitResponseTopic(name=name, topic_id=topic_id, partitions=results))
    return records, OffsetCommitResponse(topics=topics)


def commit_refused(
    topics: Sequence[OffsetCommitRequestTopic], error: ErrorCode
) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=one.partition_index, error_code=error
                    )
                    for one in topic.partitions
                ],
            )
            for topic in topics
        ]
    )


def txn_commit(
    request: TxnOffsetCommitRequest, config: GroupConfig, now_ms: int
) -> tuple[list[GroupRecord], TxnOffsetCommitResponse]:
    records: list[GroupRecord] = []
    topics = []
    for topic in request.topics:
        results = []
        for one in topic.partitions:
            error = _partition_error(one, config)
            results.append((one.partition_index, error))
            if error is ErrorCode.NONE:
                value = _value(one, ZERO_ID, now_ms, _NO_EXPIRY)
                records.append(_txn_record(request, topic.name, one.partition_index, value))
        topics.append(_txn_topic_response(topic.name, results))
    return records, TxnOffsetCommitResponse(topics=topics)


def txn_commit_refused(
    topics: Sequence[TxnOffsetCommitRequestTopic], error: ErrorCode
) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(
        topics=[
            _txn_topic_response(
                topic.name, [(one.partition_index, error) for one in topic.partitions]
            )
            for topic in topics
        ]
    )


def _partition_error(partition: CommitPartition, config: GroupConfig) -> ErrorCode:
    if len(partition.committed_metadata or "") > config.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE


def _value(
    partition: CommitPartition, topic_id: TopicId, now_ms: int, expire_ms: int
) -> OffsetCommitValue:
    return OffsetCommitValue(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=partition.committed_metadata or "",
        commit_timestamp=now_ms,
        expire_timestamp=expire_ms,
        topic_id=topic_id,
    )


def _txn_record(
    request: TxnOffsetCommitRequest, topic: str, partition: int, value: OffsetCommitValue
) -> GroupRecord:
    return offset_commit_record(
        request.group_id, topic, partition, value, request.producer_id, request.producer_epoch
    )


def _txn_topic_response(
    name: str, results: Sequence[tuple[int, ErrorCode]]
) -> TxnOffsetCommitResponseTopic:
    return TxnOffsetCommitResponseTopic(
        name=name,
        partitions=[
            TxnOffsetCommitResponsePartition(partition_index=index, error_code=error)
            for index, error in results
        ],
    )
