"""Share groups: their members, what they read, how far they are, and the state that brokers keep of
that among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.authorization.share_refusal import refused_offsets, refused_state
from penstock.handlers.call import Answer
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode
from penstock.model.feature import SHARE_VERSION
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from penstock.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from penstock.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponseTopic,
)
from penstock.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from penstock.protocol.messages.share_fetch import ShareFetchRequest
from penstock.protocol.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from penstock.protocol.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

_REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_TOPIC_MESSAGE = "Topic authorization failed."


def _is_off(asked: Asked) -> bool:
    return not asked.broker.image.features.get(SHARE_VERSION)


def _heartbeat(asked: Asked, request: ShareGroupHeartbeatRequest) -> Answer:
    if _is_off(asked):
        return asked.answer(request)
    if not asked.may_group(Operation.READ, request.group_id):
        return ShareGroupHeartbeatResponse(error_code=_REFUSED)
    topics = request.subscribed_topic_names or ()
    if not all(asked.may_topic(Operation.DESCRIBE, name) for name in topics):
        return ShareGroupHeartbeatResponse(error_code=_TOPIC_REFUSED)
    return asked.answer(request)


def _read(asked: Asked, request: ShareFetchRequest | ShareAcknowledgeRequest) -> Answer:
    """Each topic is looked at when it is read, or acknowledged."""
    if _is_off(asked) or asked.may_group(Operation.READ, request.group_id or ""):
        return asked.answer(request)
    assert request.API_KEY is not None
    response: Any = API_BY_KEY[request.API_KEY].response_class()()
    response.error_code = _REFUSED
    return response


def _describe(asked: Asked, request: ShareGroupDescribeRequest) -> Answer:
    if _is_off(asked):
        return asked.answer(request)
    allowed, refused = split(
        request.group_ids, lambda group_id: asked.may_group(Operation.DESCRIBE, group_id)
    )
    request.group_ids = allowed

    def tell(response: ShareGroupDescribeResponse) -> ShareGroupDescribeResponse:
        if request.include_authorized_operations:
            for group in response.groups:
                if not group.error_code:
                    group.authorized_operations = asked.operations(
                        ResourceType.GROUP, group.group_id
                    )
        response.groups = [
            *(_shown(asked, group) for group in response.groups),
            *(DescribedGroup(group_id=one, error_code=_REFUSED) for one in refused),
        ]
        return response

    return asked.answer_then(request, tell) if allowed else tell(ShareGroupDescribeResponse())


def _shown(asked: Asked, group: DescribedGroup) -> DescribedGroup:
    """Nothing of a group that reads topics the client must not know of."""
    topics = {
        one.topic_name for member in group.members for one in member.assignment.topic_partitions
    }
    if all(asked.may_topic(Operation.DESCRIBE, name) for name in topics):
        return group
    return DescribedGroup(
        group_id=group.group_id,
        error_code=_TOPIC_REFUSED,
        error_message="The group has described topic(s) that the client is not authorized to "
        "describe.",
    )


def _describe_offsets(asked: Asked, request: DescribeShareGroupOffsetsRequest) -> Answer:
    if _is_off(asked):
        return asked.answer(request)
    allowed, refused = split(
        request.groups, lambda group: asked.may_group(Operation.DESCRIBE, group.group_id)
    )
    request.groups = allowed
    hidden: dict[str, list[DescribeShareGroupOffsetsRequestTopic]] = {}
    for group in allowed:
        if group.topics is not None:
            group.topics, hidden[group.group_id] = split(
                group.topics, lambda topic: asked.may_topic(Operation.DESCRIBE, topic.topic_name)
            )

    def tell(response: DescribeShareGroupOffsetsResponse) -> DescribeShareGroupOffsetsResponse:
        for group in response.groups:
            group.topics = [one for one in group.topics if _may_know(asked, one)]
            if not group.error_code:
                group.topics += map(refused_offsets, hidden.get(group.group_id, ()))
        response.groups += [
            DescribeShareGroupOffsetsResponseGroup(group_id=one.group_id, error_code=_REFUSED)
            for one in refused
        ]
        return response

    if not allowed:
        return tell(DescribeShareGroupOffsetsResponse())
    return asked.answer_then(request, tell)


def _may_know(asked: Asked, topic: DescribeShareGroupOffsetsResponseTopic) -> bool:
    return asked.may_topic(Operation.DESCRIBE, topic.topic_name)


def _alter_offsets(asked: Asked, request: AlterShareGroupOffsetsRequest) -> Answer:
    if _is_off(asked):
        return asked.answer(request)
    if not asked.may_group(Operation.READ, request.group_id):
        return AlterShareGroupOffsetsResponse(error_code=_REFUSED)
    request.topics, refused = split(
        request.topics, lambda topic: asked.may_topic(Operation.READ, topic.topic_name)
    )
    told = [
        AlterShareGroupOffsetsResponseTopic(
            topic_name=topic.topic_name,
            partitions=[
                AlterShareGroupOffsetsResponsePartition(
                    partition_index=one.partition_index,
                    error_code=_TOPIC_REFUSED,
                    error_message=_TOPIC_MESSAGE,
                )
                for one in topic.partitions
            ],
        )
        for topic in refused
    ]
    return asked.answer_then(request, lambda response: _with_refused(response, told))


def _delete_offsets(asked: Asked, request: DeleteShareGroupOffsetsRequest) -> Answer:
    if _is_off(asked):
        return asked.answer(request)
    if not asked.may_group(Operation.DELETE, request.group_id):
        return DeleteShareGroupOffsetsResponse(error_code=_REFUSED)
    request.topics, refused = split(
        request.topics, lambda topic: asked.may_topic(Operation.READ, topic.topic_name)
    )
    told = [
        DeleteShareGroupOffsetsResponseTopic(
            topic_name=topic.topic_name, error_code=_TOPIC_REFUSED, error_message=_TOPIC_MESSAGE
        )
        for topic in refused
    ]
    return asked.answer_then(request, lambda response: _with_refused(response, told))


def _with_refused(response: Any, told: Sequence[Entity]) -> Any:
    """Nothing of topics is told where the group is refused."""
    if not response.error_code:
        response.responses.extend(told)
    return response


def _state(asked: Asked, request: Entity) -> Answer:
    """Of brokers among themselves."""
    if asked.may_cluster(Operation.CLUSTER_ACTION):
        return asked.answer(request)
    return refused_state(request)


GUARDS = {
    76: _heartbeat,
    77: _describe,
    78: _read,
    79: _read,
    **dict.fromkeys(range(83, 88), _state),
    90: _describe_offsets,
    91: _alter_offsets,
    92: _delete_offsets,
}
