"""Groups of the streams protocol: their members name the topics of a topology."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.group.streams.topology import told_topics
from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.handlers.streams_topics import topology_refused
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode
from penstock.model.feature import STREAMS_VERSION
from penstock.protocol.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from penstock.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

_REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED


def _heartbeat(asked: Asked, request: StreamsGroupHeartbeatRequest) -> Answer:
    """Making internal topics needs more, which is looked at when they are made."""
    if not asked.broker.image.features.get(STREAMS_VERSION):
        return asked.answer(request)
    if not asked.may_group(Operation.READ, request.group_id):
        return StreamsGroupHeartbeatResponse(error_code=_REFUSED, status=[])
    refused = topology_refused(asked.broker.controller, request)
    if refused is not None:
        return refused
    topics = [] if request.topology is None else told_topics(request.topology)
    if not all(asked.may_topic(Operation.DESCRIBE, name) for name in topics):
        return StreamsGroupHeartbeatResponse(
            error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, status=[]
        )
    return asked.answer(request)


def _describe(asked: Asked, request: StreamsGroupDescribeRequest) -> Answer:
    if not asked.broker.image.features.get(STREAMS_VERSION):
        return asked.answer(request)
    allowed, refused = split(
        request.group_ids, lambda group_id: asked.may_group(Operation.DESCRIBE, group_id)
    )
    request.group_ids = allowed

    def tell(response: StreamsGroupDescribeResponse) -> StreamsGroupDescribeResponse:
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

    return asked.answer_then(request, tell) if allowed else tell(StreamsGroupDescribeResponse())


def _shown(asked: Asked, group: DescribedGroup) -> DescribedGroup:
    """Nothing of a group that uses topics the client must not know of."""
    if all(asked.may_topic(Operation.DESCRIBE, name) for name in _topics(group)):
        return group
    return DescribedGroup(
        group_id=group.group_id,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message="The described group uses topics that the client is not authorized to "
        "describe.",
    )


def _topics(group: DescribedGroup) -> Iterator[str]:
    topology = group.topology
    for one in () if topology is None else topology.subtopologies or ():
        yield from one.source_topics
        yield from one.repartition_sink_topics
        yield from (each.name for each in one.repartition_source_topics)
        yield from (each.name for each in one.state_changelog_topics)


GUARDS = {88: _heartbeat, 89: _describe}
