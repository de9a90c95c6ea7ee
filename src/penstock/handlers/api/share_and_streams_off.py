"""Share groups: what a broker whose cluster has this feature off answers.

Apache Kafka with `share.version` at 0 lists their APIs all the same, and
answers each that it does not support it; of share state no partition is anybody's. Clients and
tools go by the list to tell how old a broker is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages import (
    alter_share_group_offsets,
    delete_share_group_offsets,
    delete_share_group_state,
    describe_share_group_offsets,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    share_acknowledge,
    share_fetch,
    share_group_describe,
    share_group_heartbeat,
    write_share_group_state,
)

OFF = ErrorCode.UNSUPPORTED_VERSION
_OFF_MESSAGE = "The version of API is not supported."
_NOBODYS = ErrorCode.NOT_COORDINATOR


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    return _ANSWERS[type(request)](request)


def _describe(
    response: Callable[..., Entity], group: Callable[..., Entity]
) -> Callable[[Any], Entity]:
    def answer(request: Any) -> Entity:
        return response(
            groups=[group(group_id=group_id, error_code=OFF) for group_id in request.group_ids]
        )

    return answer


def _describe_offsets(
    request: describe_share_group_offsets.DescribeShareGroupOffsetsRequest,
) -> Entity:
    return describe_share_group_offsets.DescribeShareGroupOffsetsResponse(
        groups=[
            describe_share_group_offsets.DescribeShareGroupOffsetsResponseGroup(
                group_id=group.group_id, error_code=OFF, error_message=None
            )
            for group in request.groups
        ]
    )


def _state(
    response: Callable[..., Entity],
    topic: Callable[..., Entity],
    partition: Callable[..., Entity],
    action: str,
) -> Callable[[Any], Entity]:
    """Each partition of each topic is refused by itself."""
    message = f"Unable to {action}: This is not the correct coordinator."

    def answer(request: Any) -> Entity:
        return response(
            results=[
                topic(
                    topic_id=asked.topic_id,
                    partitions=[
                        partition(
                            partition=one.partition, error_code=_NOBODYS, error_message=message
                        )
                        for one in asked.partitions
                    ],
                )
                for asked in request.topics
            ]
        )

    return answer


_ANSWERS: dict[type[Entity], Callable[[Any], Entity]] = {
    share_group_heartbeat.ShareGroupHeartbeatRequest: lambda _: (
        share_group_heartbeat.ShareGroupHeartbeatResponse(error_code=OFF)
    ),
    share_group_describe.ShareGroupDescribeRequest: _describe(
        share_group_describe.ShareGroupDescribeResponse, share_group_describe.DescribedGroup
    ),
    share_fetch.ShareFetchRequest: lambda _: share_fetch.ShareFetchResponse(error_code=OFF),
    share_acknowledge.ShareAcknowledgeRequest: lambda _: share_acknowledge.ShareAcknowledgeResponse(
        error_code=OFF
    ),
    initialize_share_group_state.InitializeShareGroupStateRequest: _state(
        initialize_share_group_state.InitializeShareGroupStateResponse,
        initialize_share_group_state.InitializeStateResult,
        initialize_share_group_state.PartitionResult,
        "initialize share group state",
    ),
    read_share_group_state.ReadShareGroupStateRequest: _state(
        read_share_group_state.ReadShareGroupStateResponse,
        read_share_group_state.ReadStateResult,
        read_share_group_state.PartitionResult,
        "read share group state",
    ),
    write_share_group_state.WriteShareGroupStateRequest: _state(
        write_share_group_state.WriteShareGroupStateResponse,
        write_share_group_state.WriteStateResult,
        write_share_group_state.PartitionResult,
        "write share group state",
    ),
    delete_share_group_state.DeleteShareGroupStateRequest: _state(
        delete_share_group_state.DeleteShareGroupStateResponse,
        delete_share_group_state.DeleteStateResult,
        delete_share_group_state.PartitionResult,
        "delete share group state",
    ),
    read_share_group_state_summary.ReadShareGroupStateSummaryRequest: _state(
        read_share_group_state_summary.ReadShareGroupStateSummaryResponse,
        read_share_group_state_summary.ReadStateSummaryResult,
        read_share_group_state_summary.PartitionResult,
        "read share group state summary",
    ),
    describe_share_group_offsets.DescribeShareGroupOffsetsRequest: _describe_offsets,
    alter_share_group_offsets.AlterShareGroupOffsetsRequest: lambda _: (
        alter_share_group_offsets.AlterShareGroupOffsetsResponse(
            error_code=OFF, error_message=_OFF_MESSAGE
        )
    ),
    delete_share_group_offsets.DeleteShareGroupOffsetsRequest: lambda _: (
        delete_share_group_offsets.DeleteShareGroupOffsetsResponse(
            error_code=OFF, error_message=_OFF_MESSAGE
        )
    ),
}
