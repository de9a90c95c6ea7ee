"""The answers to whom something of share groups is refused, in the form that Kafka gives them."""

from __future__ import annotations

from typing import Any

from penstock.coordinator.share_form import FORMS
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)

_CODE = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def refused_state(request: Any) -> Entity:
    response, topic, partition = FORMS[request.API_KEY]
    refused: Entity = response(
        results=[
            topic(
                topic_id=asked.topic_id,
                partitions=[
                    partition(
                        partition=one.partition,
                        error_code=_CODE,
                        error_message="Cluster authorization failed.",
                    )
                    for one in asked.partitions
                ],
            )
            for asked in request.topics
        ]
    )
    return refused


def refused_offsets(
    topic: DescribeShareGroupOffsetsRequestTopic,
) -> DescribeShareGroupOffsetsResponseTopic:
    return DescribeShareGroupOffsetsResponseTopic(
        topic_name=topic.topic_name,
        partitions=[
            DescribeShareGroupOffsetsResponsePartition(
                partition_index=index,
                error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                error_message="Topic authorization failed.",
            )
            for index in topic.partitions
        ],
    )
