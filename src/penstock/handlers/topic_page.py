"""Which page of topics DescribeTopicPartitions asks for: its cursor, and what is wrong with one."""

from __future__ import annotations

from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
)


def refuse_cursor(
    request: DescribeTopicPartitionsRequest,
) -> DescribeTopicPartitionsResponse | None:
    """The answer where a cursor leads nowhere; every topic of the request is told the same."""
    cursor = request.cursor
    if cursor is None:
        return None
    is_asked_for = not request.topics or any(
        topic.name == cursor.topic_name for topic in request.topics
    )
    if is_asked_for and cursor.partition_index >= 0:
        return None
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(
                error_code=ErrorCode.INVALID_REQUEST, name=topic.name
            )
            for topic in request.topics
        ]
    )
