"""DeleteRecords: move the beginning of a log forward."""

from __future__ import annotations

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
from penstock.storage.trim import delete_records_before


def handle(broker: Broker, request: DeleteRecordsRequest, call: Call) -> Answer:
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[_delete(broker, topic.name, asked) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )
    broker.log_dirs.checkpoint_log_starts()
    return response


def _delete(
    broker: Broker, topic: str, asked: DeleteRecordsPartition
) -> DeleteRecordsPartitionResult:
    index = asked.partition_index
    try:
        partition = broker.partitions.by_name(topic, index)
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        log = partition.log
        if "delete" not in log.config.cleanup_policy:
            raise ApiError(ErrorCode.POLICY_VIOLATION)
        delete_records_before(log, asked.offset)
    except ApiError as error:
        return DeleteRecordsPartitionResult(
            partition_index=index, low_watermark=-1, error_code=error.code
        )
    return DeleteRecordsPartitionResult(partition_index=index, low_watermark=log.log_start_offset)
