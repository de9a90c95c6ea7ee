"""ListOffsets: the offset at a point in time, or at either end of the log."""

from __future__ import annotations

import asyncio
from collections import Counter

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.named_once import named_once
from penstock.model.error import ApiError, ErrorCode, StorageError, code_of
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.records.record import read_header
from penstock.records.time_search import find_timestamp, is_quick
from penstock.replication.partition import WHOLE_LOG, Partition
from penstock.storage.lookup import (
    TimedOffset,
    max_timestamp_offset,
    offset_for_timestamp,
    timed_offset,
)

LEADER_EPOCH_FROM = 4
NOT_AVAILABLE_FROM = 5

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
Slow = tuple[Partition, int, ListOffsetsPartitionResponse, "SlowBatch"]


class SlowBatch(Exception):
    """A search by time has come to a batch that takes long to read: a thread goes on with it."""

    def __init__(self, batch: bytes, timestamp: int, offset: int) -> None:
        self.batch = batch
        self.timestamp = timestamp
        self.offset = offset


def handle(broker: Broker, request: ListOffsetsRequest, call: Call) -> Answer:
    slow: list[Slow] = []
    counts = Counter(
        (topic.name, asked.partition_index)
        for topic in request.topics
        for asked in topic.partitions
    )
    isolation = WHOLE_LOG if request.replica_id >= 0 else request.isolation_level
    response = ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _answer(broker, topic.name, asked, isolation, call.version, slow)
                    if counts[topic.name, asked.partition_index] == 1
                    else _twice(asked)
                    for asked in topic.partitions
                ],
            )
            for topic in named_once(request.topics, "partitions")
        ]
    )
    return _read_slow(broker, response, slow, isolation, call) if slow else response


def _answer(
    broker: Broker,
    topic: str,
    asked: ListOffsetsPartition,
    isolation: int,
    version: int,
    slow: list[Slow],
) -> ListOffsetsPartitionResponse:
    answer = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
    try:
        partition = broker.partitions.by_name(topic, asked.partition_index)
        partition.check_epoch(asked.current_leader_epoch)
        if version < ASKED_FROM.get(asked.timestamp, 0):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        _fill(answer, find(partition, asked.timestamp, isolation), version)
    except SlowBatch as found:
        slow.append((partition, asked.timestamp, answer, found))
    except (ApiError, StorageError) as error:
        _refuse(answer, error, version)
    return answer


def _twice(asked: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index, error_code=ErrorCode.INVALID_REQUEST
    )


def _fill(answer: ListOffsetsPartitionResponse, found: Found, version: int) -> None:
    answer.timestamp, answer.offset, epoch = found
    answer.leader_epoch = epoch if version >= LEADER_EPOCH_FROM else -1


def _refuse(
    answer: ListOffsetsPartitionResponse, error: ApiError | StorageError, version: int
) -> None:
    code = code_of(error)
    if code is ErrorCode.OFFSET_NOT_AVAILABLE and version < NOT_AVAILABLE_FROM:
        # What older clients know as "ask again in a moment".
        code = ErrorCode.LEADER_NOT_AVAILABLE
    answer.error_code = code
    answer.timestamp = answer.offset = -1


async def _read_slow(
    broker: Broker,
    response: ListOffsetsResponse,
    slow: list[Slow],
    isolation: int,
    call: Call,
) -> ListOffsetsResponse:
    """One at a time over all connections: a thread that reads takes turns with the loop."""
    for partition, timestamp, answer, found in slow:
        try:
            async with broker.slow_reading:
                _fill(
                    answer, await _find_slow(partition, timestamp, isolation, found), call.version
                )
        except (ApiError, StorageError) as error:
            _refuse(answer, error, call.version)
    return response


async def _find_slow(
    partition: Partition, timestamp: int, isolation: int, slow: SlowBatch
) -> Found:
    while True:
        found = await asyncio.to_thread(find_timestamp, slow.batch, slow.timestamp, slow.offset)
        if found is not None:
            return _visible(partition, timed_offset(partition.log, found), isolation)
        try:
            behind = read_header(slow.batch).next_offset
            return find(partition, timestamp, isolation, behind)
        except SlowBatch as next_one:
            slow = next_one


def find(partition: Partition, timestamp: int, isolation: int, start_offset: int = 0) -> Found:
    log = partition.log
    if timestamp == LATEST:
        _check_latest(partition, isolation)
        return -1, partition.bound(isolation), partition.leader_epoch
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        start = log.log_start_offset
        return -1, start, log.epochs.epoch_at(start)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return UNKNOWN
    if timestamp == MAX_TIMESTAMP:
        return _visible(partition, max_timestamp_offset(log, start_offset, _search), isolation)
    if timestamp >= 0:
        found = offset_for_timestamp(log, timestamp, start_offset, _search)
        return _visible(partition, found, isolation)
    raise ApiError(ErrorCode.UNSUPPORTED_VERSION)


def _search(batch: bytes, timestamp: int, offset: int) -> tuple[int, int] | None:
    if not is_quick(read_header(batch)):
        raise SlowBatch(batch, timestamp, offset)
    return find_timestamp(batch, timestamp, offset)


def _visible(partition: Partition, found: TimedOffset | None, isolation: int) -> Found:
    if found is None or found.offset >= partition.bound(isolation):
        _check_latest(partition, isolation)
        return UNKNOWN
    return found.timestamp, found.offset, found.leader_epoch


def _check_latest(partition: Partition, isolation: int) -> None:
    """The leader before may have told consumers of a later watermark than this one knows of yet."""
    leader = partition.leader
    if leader is None or isolation == WHOLE_LOG:
        return
    if not leader.knows_latest(partition.log.high_watermark):
        raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE)
