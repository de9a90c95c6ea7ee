"""Groups of the classic protocol, and what is the same for all groups."""

from __future__ import annotations

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from penstock.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from penstock.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from penstock.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from penstock.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED
_NULL_PROTOCOL_FROM = 7


def _join_group(asked: Asked, request: JoinGroupRequest) -> Answer:
    if asked.may_group(Operation.READ, request.group_id):
        return asked.answer(request)
    nothing = None if asked.version >= _NULL_PROTOCOL_FROM else ""
    return JoinGroupResponse(error_code=_REFUSED, generation_id=-1, protocol_name=nothing)


def _heartbeat(asked: Asked, request: HeartbeatRequest) -> Answer:
    if asked.may_group(Operation.READ, request.group_id):
        return asked.answer(request)
    return HeartbeatResponse(error_code=_REFUSED)


def _leave_group(asked: Asked, request: LeaveGroupRequest) -> Answer:
    if asked.may_group(Operation.READ, request.group_id):
        return asked.answer(request)
    return LeaveGroupResponse(error_code=_REFUSED)


def _sync_group(asked: Asked, request: SyncGroupRequest) -> Answer:
    if asked.may_group(Operation.READ, request.group_id):
        return asked.answer(request)
    return SyncGroupResponse(error_code=_REFUSED)


def _describe_groups(asked: Asked, request: DescribeGroupsRequest) -> Answer:
    allowed, refused = split(
        request.groups, lambda group_id: asked.may_group(Operation.DESCRIBE, group_id)
    )
    request.groups = allowed

    def tell(response: DescribeGroupsResponse) -> DescribeGroupsResponse:
        if request.include_authorized_operations:
            for group in response.groups:
                if not group.error_code:
                    group.authorized_operations = asked.operations(
                        ResourceType.GROUP, group.group_id
                    )
        response.groups += [
            DescribedGroup(group_id=group_id, error_code=_REFUSED, error_message=None)
            for group_id in refused
        ]
        return response

    return asked.answer_then(request, tell) if allowed else tell(DescribeGroupsResponse())


def _list_groups(asked: Asked, request: ListGroupsRequest) -> Answer:
    """Who may describe the cluster sees all of them."""
    if asked.may_cluster(Operation.DESCRIBE):
        return asked.answer(request)

    def leave_out(response: ListGroupsResponse) -> ListGroupsResponse:
        response.groups = [
            group
            for group in response.groups
            if asked.may_group(Operation.DESCRIBE, group.group_id)
        ]
        return response

    return asked.answer_then(request, leave_out)


def _delete_groups(asked: Asked, request: DeleteGroupsRequest) -> Answer:
    request.groups_names, refused = split(
        dict.fromkeys(request.groups_names),
        lambda group_id: asked.may_group(Operation.DELETE, group_id),
    )
    told = [DeletableGroupResult(group_id=one, error_code=_REFUSED) for one in refused]
    return asked.answer_rest(request, request.groups_names, DeleteGroupsResponse, "results", told)


GUARDS = {
    11: _join_group,
    12: _heartbeat,
    13: _leave_group,
    14: _sync_group,
    15: _describe_groups,
    16: _list_groups,
    42: _delete_groups,
}
