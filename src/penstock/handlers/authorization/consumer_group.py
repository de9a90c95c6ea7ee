"""Groups of the consumer protocol: their members learn of topics through them."""

from __future__ import annotations

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode
from penstock.model.feature import GROUP_VERSION
from penstock.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

_REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED


def _heartbeat(asked: Asked, request: ConsumerGroupHeartbeatRequest) -> Answer:
    if not asked.broker.image.features.get(GROUP_VERSION):
        return asked.answer(request)
    if not asked.may_group(Operation.READ, request.group_id):
        return ConsumerGroupHeartbeatResponse(error_code=_REFUSED)
    topics = request.subscribed_topic_names or ()
    if not all(asked.may_topic(Operation.DESCRIBE, name) for name in topics):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return asked.answer(request)


def _describe(asked: Asked, request: ConsumerGroupDescribeRequest) -> Answer:
    if not asked.broker.image.features.get(GROUP_VERSION):
        return asked.answer(request)
    allowed, refused = split(
        request.group_ids, lambda group_id: asked.may_group(Operation.DESCRIBE, group_id)
    )
    request.group_ids = allowed

    def tell(response: ConsumerGroupDescribeResponse) -> ConsumerGroupDescribeResponse:
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

    return asked.answer_then(request, tell) if allowed else tell(ConsumerGroupDescribeResponse())


def _shown(asked: Asked, group: DescribedGroup) -> DescribedGroup:
    """Nothing of a group that reads topics the client must not know of."""
    topics = {
        one.topic_name
        for member in group.members
        for assignment in (member.assignment, member.target_assignment)
        for one in assignment.topic_partitions
    }
    if all(asked.may_topic(Operation.DESCRIBE, name) for name in topics):
        return group
    return DescribedGroup(
        group_id=group.group_id,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message="The group has described topic(s) that the client is not authorized to "
        "describe.",
    )


GUARDS = {68: _heartbeat, 69: _describe}
