"""ListOffsets: the offset at a point in time, or at either end of the log."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.replication.partition import Partition
from penstock.storage.lookup import max_timestamp_offset, offset_for_timestamp

LEADER_EPOCH_FROM = 4

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

ASKED_FROM = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
"""The version each of these points came with: in an older one it means nothing."""

UNKNOWN = (-1, -1, -1)
"""timestamp, offset, leader epoch"""

Found = tuple[int, int, int]


def handle(broker: Broker, request: ListOffsetsRequest, call: Call) -> Answer:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _answer(broker, topic.name, asked, request.isolation_level, call.version)
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _answer(
    broker: Broker, topic: str, asked: ListOffsetsPartition, isolation: int, version: int
) -> ListOffsetsPartitionResponse:
    index = asked.partition_index
    try:
        partition = broker.partitions.by_name(topic, index)
        partition.check_epoch(asked.current_leader_epoch)
        if version < ASKED_FROM.get(asked.timestamp, 0):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        timestamp, offset, epoch = find(partition, asked.timestamp, isolation)
    except ApiError as error:
        return ListOffsetsPartitionResponse(
            partition_index=index, error_code=error.code, timestamp=-1, offset=-1
        )
    return ListOffsetsPartitionResponse(
        partition_index=index,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=epoch if version >= LEADER_EPOCH_FROM else -1,
    )


def find(partition: Partition, timestamp: int, isolation: int) -> Found:
    log = partition.log
    if timestamp == LATEST:
        return -1, partition.bound(isolation), partition.leader_epoch
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        start = log.log_start_offset
        return -1, start, log.epochs.epoch_at(start)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return UNKNOWN
    if timestamp == MAX_TIMESTAMP:
        found = max_timestamp_offset(log)
    elif timestamp >= 0:
        found = offset_for_timestamp(log, timestamp)
    else:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    if found is None or found.offset >= partition.bound(isolation):
        return UNKNOWN
    return found.timestamp, found.offset, found.leader_epoch
