"""DeleteRecords: move the beginning of a log forward, on every replica.

Answered when no live replica has the records any more, or when the client's time is up.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.named_once import named_once
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.model.error import ApiError, ErrorCode, StorageError, code_of
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from penstock.replication.partition import Partition
from penstock.storage.trim import delete_records_before

NO_LOW_WATERMARK = -1
LOOK_AGAIN_S = 0.02


def handle(broker: Broker, request: DeleteRecordsRequest, call: Call) -> Answer:
    deletions: list[_Deletion] = []
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    _delete(broker, topic.name, asked, deletions) for asked in topic.partitions
                ],
            )
            for topic in named_once(request.topics, "partitions")
        ]
    )
    broker.log_dirs.checkpoint_log_starts()
    left = [one for one in deletions if not _is_done(one)]
    if not left:
        return response
    return _answer_later(broker, response, left, request.timeout_ms / 1000)


class _Deletion(NamedTuple):
    partition: Partition
    offset: int
    result: DeleteRecordsPartitionResult


async def _answer_later(
    broker: Broker, response: DeleteRecordsResponse, left: list[_Deletion], timeout_s: float
) -> DeleteRecordsResponse:
    """Followers hear of it with their next fetches, of which nobody is told but the leader."""
    until_s = broker.clock.monotonic() + timeout_s
    while left and broker.clock.monotonic() < until_s:
        await asyncio.sleep(LOOK_AGAIN_S)
        left = [one for one in left if not _is_done(one)]
    for _, _, result in left:
        result.error_code = ErrorCode.REQUEST_TIMED_OUT
    return response


def _is_done(deletion: _Deletion) -> bool:
    """The result says how far it is, or why it never will be."""
    partition, offset, result = deletion
    if not partition.is_led:
        ended = partition.ended
        result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER if ended is None else ended.code
        result.low_watermark = NO_LOW_WATERMARK
        return True
    log, leader = partition.log, partition.leader
    start_offset = log.log_start_offset
    result.low_watermark = start_offset if leader is None else leader.low_watermark(start_offset)
    return result.low_watermark >= offset


def _delete(
    broker: Broker, topic: str, asked: DeleteRecordsPartition, deletions: list[_Deletion]
) -> DeleteRecordsPartitionResult:
    index = asked.partition_index
    result = DeleteRecordsPartitionResult(partition_index=index, low_watermark=NO_LOW_WATERMARK)
    try:
        partition = broker.partitions.by_name(topic, index)
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        log = partition.log
        if "delete" not in log.config.cleanup_policy:
            raise ApiError(ErrorCode.POLICY_VIOLATION)
        offset = delete_records_before(log, asked.offset)
    except (ApiError, StorageError) as error:
        result.error_code = code_of(error)
    else:
        deletions.append(_Deletion(partition, offset, result))
    return result
