"""SyncGroup: the leader hands in the assignment, the others wait for it."""

from __future__ import annotations

from penstock.group.classic.check import heartbeat_error
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.reply import synced
from penstock.group.classic.state import GroupEvent, GroupState
from penstock.group.classic.turn import Turn
from penstock.group.timer import SyncTimer
from penstock.machine import Parked
from penstock.model.error import ErrorCode
from penstock.protocol.messages.sync_group import SyncGroupRequest

_PROTOCOL_REQUIRED_SINCE = 5


def sync_request_error(request: SyncGroupRequest, version: int) -> ErrorCode | None:
    """What can be refused without looking at the group."""
    unnamed = request.protocol_type is None or request.protocol_name is None
    if version >= _PROTOCOL_REQUIRED_SINCE and unnamed:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return None if request.group_id else ErrorCode.INVALID_GROUP_ID


def sync_error(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode | None:
    error = heartbeat_error(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    if error is not None:
        return error
    if _differ(request.protocol_type, group.protocol_type) or _differ(
        request.protocol_name, group.protocol_name
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is GroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return None


def sync_leader(turn: Turn, request: SyncGroupRequest, ticket: int) -> Parked:
    """What no `step` can do: the assignment is there, and everybody who waits gets it."""
    group, member_id = turn.group, request.member_id
    if member_id in group.pending_sync:
        del group.pending_sync[member_id]
        if not group.pending_sync:
            turn.cancel(SyncTimer(group.group_id))
    turn.park_sync(member_id, ticket)
    _assign(turn, request)
    return Parked(ticket)


def _differ(asked: str | None, actual: str | None) -> bool:
    """Requests before version 5 do not say."""
    return asked is not None and actual is not None and asked != actual


def _assign(turn: Turn, request: SyncGroupRequest) -> None:
    """Members the leader forgot get an empty assignment."""
    group = turn.group
    assignments = {one.member_id: bytes(one.assignment) for one in request.assignments}
    for member in list(group.members.values()):
        group.assign(member, assignments.get(member.member_id, b""))
    turn.move(GroupEvent.ASSIGNED)
    turn.store()
    for member in group.members.values():
        if turn.answer_sync(member.member_id, synced(group, member.member_id)):
            turn.start_session(member)
