"""The answers to whom something of share groups is refused, in the form that Kafka gives them."""

from __future__ import annotations

from typing import Any

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages import (
    delete_share_group_state,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    write_share_group_state,
)
from penstock.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)

_CODE = ErrorCode.CLUSTER_AUTHORIZATION_FAILED

_FORMS: dict[int, tuple[Any, Any, Any]] = {
    83: (
        initialize_share_group_state.InitializeShareGroupStateResponse,
        initialize_share_group_state.InitializeStateResult,
        initialize_share_group_state.PartitionResult,
    ),
    84: (
        read_share_group_state.ReadShareGroupStateResponse,
        read_share_group_state.ReadStateResult,
        read_share_group_state.PartitionResult,
    ),
    85: (
        write_share_group_state.WriteShareGroupStateResponse,
        write_share_group_state.WriteStateResult,
        write_share_group_state.PartitionResult,
    ),
    86: (
        delete_share_group_state.DeleteShareGroupStateResponse,
        delete_share_group_state.DeleteStateResult,
        delete_share_group_state.PartitionResult,
    ),
    87: (
        read_share_group_state_summary.ReadShareGroupStateSummaryResponse,
        read_share_group_state_summary.ReadStateSummaryResult,
        read_share_group_state_summary.PartitionResult,
    ),
}


def refused_state(request: Any) -> Entity:
    response, topic, partition = _FORMS[request.API_KEY]
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
