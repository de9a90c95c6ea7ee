"""LeaveGroup: members go, or an admin removes static ones by their instance id."""

from __future__ import annotations

from penstock.group.classic.check import member_error
from penstock.group.classic.rebalance import complete_if_joined, prepare
from penstock.group.classic.state import GroupState
from penstock.group.classic.turn import Turn
from penstock.model.error import ErrorCode
from penstock.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

_MANY_MEMBERS_SINCE = 3


def leaving_members(request: LeaveGroupRequest, version: int) -> list[MemberIdentity]:
    if version < _MANY_MEMBERS_SINCE:
        return [MemberIdentity(member_id=request.member_id)]
    return request.members


def leave(turn: Turn, leaving: list[MemberIdentity]) -> list[MemberResponse]:
    """One rebalance for all who left, however many."""
    group = turn.group
    results = [_member_result(one, _remove(turn, one)) for one in leaving]
    if any(result.error_code == ErrorCode.NONE for result in results):
        if group.state is GroupState.PREPARING_REBALANCE:
            complete_if_joined(turn)
        elif not group.is_empty:
            prepare(turn)
    return results


def unknown_members(leaving: list[MemberIdentity]) -> list[MemberResponse]:
    return [_member_result(one, ErrorCode.UNKNOWN_MEMBER_ID) for one in leaving]


def leave_response(results: list[MemberResponse], version: int) -> LeaveGroupResponse:
    """Before version 3 the one member's error is the request's."""
    if version < _MANY_MEMBERS_SINCE:
        return LeaveGroupResponse(error_code=results[0].error_code)
    return LeaveGroupResponse(members=results)


def _remove(turn: Turn, leaving: MemberIdentity) -> ErrorCode:
    group, member_id = turn.group, leaving.member_id
    if not member_id:
        member_id = group.static_ids.get(leaving.group_instance_id or "", "")
        if not member_id:
            return ErrorCode.UNKNOWN_MEMBER_ID
    elif member_id not in group.pending_join:
        error = member_error(group, member_id, leaving.group_instance_id)
        if error is not None:
            return error
    turn.expel(member_id)
    return ErrorCode.NONE


def _member_result(leaving: MemberIdentity, error: ErrorCode) -> MemberResponse:
    return MemberResponse(
        member_id=leaving.member_id,
        group_instance_id=leaving.group_instance_id,
        error_code=error,
    )
