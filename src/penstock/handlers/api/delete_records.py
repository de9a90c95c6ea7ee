"""DeleteRecords: move the beginning of a log forward, on every replica.

Answered when no live replica has the records any more, or when the client's time is up.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.model.error import ApiError, ErrorCode
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


def handle(broker: Broker, request: DeleteRecordsRequest, call: Call) -> Answer:
    deletions = Deletions()
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    _delete(broker, topic.name, asked, deletions) for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
    broker.log_dir.checkpoint_log_starts()
    if deletions.are_done:
        return response
    return _answer_later(response, deletions, request.timeout_ms / 1000)


class _Deletion(NamedTuple):
    partition: Partition
    offset: int
    result: DeleteRecordsPartitionResult


class Deletions:
    """Those of a request that replicas have not followed yet."""

    def __init__(self) -> None:
        self._waiting: list[_Deletion] = []
        self._watched: dict[Partition, None] = {}
        self._done = asyncio.Event()

    @property
    def are_done(self) -> bool:
        return not self._waiting

    def add(self, partition: Partition, offset: int, result: DeleteRecordsPartitionResult) -> None:
        deletion = _Deletion(partition, offset, result)
        if not _is_done(deletion):
            result.error_code = ErrorCode.REQUEST_TIMED_OUT
            self._waiting.append(deletion)
            self._watched[partition] = None
            partition.watch_start(self)

    def on_start_moved(self, partition: Partition) -> None:
        self._waiting = [
            one for one in self._waiting if one.partition is not partition or not _is_done(one)
        ]
        if not self._waiting:
            self._done.set()

    async def wait_done(self, timeout_s: float) -> None:
        """What is not done by then has timed out."""
        try:
            async with asyncio.timeout(max(timeout_s, 0)):
                await self._done.wait()
        except TimeoutError:
            pass
        finally:
            for partition in self._watched:
                partition.unwatch_start(self)


def _is_done(deletion: _Deletion) -> bool:
    """The result says how far it is, or why it never will be."""
    partition, offset, result = deletion
    if not partition.is_led:
        ended = partition.ended
        result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER if ended is None else ended.code
        result.low_watermark = NO_LOW_WATERMARK
        return True
    result.low_watermark = partition.low_watermark
    if result.low_watermark < offset:
        return False
    result.error_code = ErrorCode.NONE
    return True


async def _answer_later(
    response: DeleteRecordsResponse, deletions: Deletions, timeout_s: float
) -> DeleteRecordsResponse:
    await deletions.wait_done(timeout_s)
    return response


def _delete(
    broker: Broker, topic: str, asked: DeleteRecordsPartition, deletions: Deletions
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
        offset = log.high_watermark if asked.offset == -1 else asked.offset
        delete_records_before(log, offset)
    except ApiError as error:
        result.error_code = error.code
    else:
        deletions.add(partition, offset, result)
    return result
