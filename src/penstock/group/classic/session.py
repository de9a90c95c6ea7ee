"""Heartbeats, and what happens when they stop."""

from __future__ import annotations

from penstock.group.classic.check import heartbeat_error
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.rebalance import (
    complete_join,
    continue_initial_delay,
    expel_unsynced,
    prepare,
)
from penstock.group.classic.state import GroupState
from penstock.group.classic.turn import Turn
from penstock.group.record import GroupEntry
from penstock.group.timer import SessionTimer
from penstock.machine import Decision, TimerSet
from penstock.model.error import ErrorCode
from penstock.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

# The answers of nearly all heartbeats, made once: nobody changes a response that was decided.
_ALL_WELL = HeartbeatResponse(error_code=ErrorCode.NONE)
_REJOIN = HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)


def heartbeat(
    group: ClassicGroup, request: HeartbeatRequest, now_ms: int
) -> Decision[GroupEntry, HeartbeatResponse]:
    """By far the most frequent request: it touches nothing but one timer."""
    error = heartbeat_error(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    if error is not None:
        return Decision((), HeartbeatResponse(error_code=error))
    response = _REJOIN if group.state is GroupState.PREPARING_REBALANCE else _ALL_WELL
    timer = renewed_session(group, request.member_id, now_ms)
    return Decision((), response, (timer,))


def renewed_session(group: ClassicGroup, member_id: str, now_ms: int) -> TimerSet:
    timeout_ms = group.members[member_id].session_timeout_ms
    return TimerSet(SessionTimer(group.group_id, member_id), now_ms + timeout_ms)


def expire_session(turn: Turn, member_id: str) -> None:
    group = turn.group
    pending = member_id in group.pending_join
    if not pending and not _is_overdue(group, member_id):
        return
    turn.expel(member_id)
    if group.state is GroupState.PREPARING_REBALANCE:
        if group.all_joined:
            complete_join(turn)
    elif group.can_rebalance and not group.is_empty and not pending:
        prepare(turn)


def _is_overdue(group: ClassicGroup, member_id: str) -> bool:
    """Who is parked cannot heartbeat and need not, unless it has been so since its first join."""
    member = group.members.get(member_id)
    if member is None:
        return False
    return member.is_new or (
        member_id not in group.join_tickets and member_id not in group.sync_tickets
    )


def expire_join(turn: Turn) -> None:
    if turn.group.state is not GroupState.PREPARING_REBALANCE:
        return
    if turn.group.initial_delay is not None:
        continue_initial_delay(turn)
    else:
        complete_join(turn)


def expire_sync(turn: Turn) -> None:
    group = turn.group
    if group.state in _AFTER_JOIN and group.pending_sync:
        expel_unsynced(turn)


_AFTER_JOIN = (GroupState.COMPLETING_REBALANCE, GroupState.STABLE)
