"""What is asked of partitions, topic by topic, beside records."""

from __future__ import annotations

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.model.acl import Operation
from penstock.model.error import ErrorCode
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from penstock.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    TopicResponse,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def _list_offsets(asked: Asked, request: ListOffsetsRequest) -> Answer:
    request.topics, refused = split(
        request.topics, lambda topic: asked.may_topic(Operation.DESCRIBE, topic.name)
    )
    told = [
        ListOffsetsTopicResponse(
            name=topic.name,
            partitions=[
                ListOffsetsPartitionResponse(
                    partition_index=one.partition_index,
                    error_code=_REFUSED,
                    timestamp=-1,
                    offset=-1,
                )
                for one in topic.partitions
            ],
        )
        for topic in refused
    ]
    return asked.answer_rest(request, request.topics, ListOffsetsResponse, "topics", told)


def _delete_records(asked: Asked, request: DeleteRecordsRequest) -> Answer:
    request.topics, refused = split(
        request.topics, lambda topic: asked.may_topic(Operation.DELETE, topic.name)
    )
    told = [
        DeleteRecordsTopicResult(
            name=topic.name,
            partitions=[
                DeleteRecordsPartitionResult(
                    partition_index=one.partition_index, low_watermark=-1, error_code=_REFUSED
                )
                for one in topic.partitions
            ],
        )
        for topic in refused
    ]
    return asked.answer_rest(request, request.topics, DeleteRecordsResponse, "topics", told)


def _offset_for_leader_epoch(asked: Asked, request: OffsetForLeaderEpochRequest) -> Answer:
    """Followers ask as well, and need no grant for each topic."""
    if asked.may_cluster(Operation.CLUSTER_ACTION):
        return asked.answer(request)
    request.topics, refused = split(
        request.topics, lambda topic: asked.may_topic(Operation.DESCRIBE, topic.topic)
    )
    told = [
        OffsetForLeaderTopicResult(
            topic=topic.topic,
            partitions=[
                EpochEndOffset(partition=one.partition, error_code=_REFUSED)
                for one in topic.partitions
            ],
        )
        for topic in refused
    ]
    return asked.answer_rest(request, request.topics, OffsetForLeaderEpochResponse, "topics", told)


def _describe_producers(asked: Asked, request: DescribeProducersRequest) -> Answer:
    request.topics, refused = split(
        request.topics, lambda topic: asked.may_topic(Operation.READ, topic.name)
    )
    told = [
        TopicResponse(
            name=topic.name,
            partitions=[
                PartitionResponse(
                    partition_index=index,
                    error_code=_REFUSED,
                    error_message="Topic authorization failed.",
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in refused
    ]
    return asked.answer_rest(request, request.topics, DescribeProducersResponse, "topics", told)


GUARDS = {
    2: _list_offsets,
    21: _delete_records,
    23: _offset_for_leader_epoch,
    61: _describe_producers,
}
