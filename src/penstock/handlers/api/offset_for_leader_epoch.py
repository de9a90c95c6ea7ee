"""OffsetForLeaderEpoch: where a leader's reign ended in our log (KIP-101)."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ApiError, StorageError, code_of
from penstock.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from penstock.storage.lookup import end_offset_for_epoch


def handle(broker: Broker, request: OffsetForLeaderEpochRequest, call: Call) -> Answer:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_answer(broker, topic.topic, asked) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _answer(broker: Broker, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = broker.partitions.by_name(topic, asked.partition)
        partition.check_epoch(asked.current_leader_epoch)
        log = partition.log
    except (ApiError, StorageError) as error:
        return EpochEndOffset(partition=asked.partition, error_code=code_of(error))
    if asked.leader_epoch == partition.leader_epoch:
        epoch, end_offset = partition.leader_epoch, log.end_offset
    else:
        epoch, end_offset = end_offset_for_epoch(log, asked.leader_epoch)
    return EpochEndOffset(partition=asked.partition, leader_epoch=epoch, end_offset=end_offset)
