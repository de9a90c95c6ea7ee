"""What one member's request changes while others are still waited for: its own entries alone.

Such a step neither starts nor ends a phase of the group. It needs no copy of the group: adopting it
changes the group in place, at a cost that does not grow with the group. In a rebalance nearly every
request is one; the others are turns (`turn.py`). A function here gives None where it takes a turn.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.group.caller import Caller
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.join import JoinKind, new_member, unchanged
from penstock.group.classic.member import protocols_of
from penstock.group.classic.reply import join_refused, sync_refused, synced
from penstock.group.classic.state import GroupState
from penstock.group.classic.sync import sync_error
from penstock.group.config import GroupConfig
from penstock.group.record import GroupEntry
from penstock.group.timer import SessionTimer, SyncTimer
from penstock.machine import Decision, Parked, TimerCancel, TimerSet
from penstock.model.error import ErrorCode
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

JoinDecision = Decision[GroupEntry, JoinGroupResponse]
SyncDecision = Decision[GroupEntry, SyncGroupResponse]


class JoinStep:
    """One JoinGroup. `draw_id` gives an id for a member that has none."""

    __slots__ = ("_caller", "_config", "_draw_id", "_group", "_now_ms", "_request", "_ticket")

    def __init__(
        self,
        group: ClassicGroup,
        request: JoinGroupRequest,
        caller: Caller,
        config: GroupConfig,
        ticket: int,
        now_ms: int,
        draw_id: Callable[[], str],
    ) -> None:
        self._group = group
        self._request = request
        self._caller = caller
        self._config = config
        self._ticket = ticket
        self._now_ms = now_ms
        self._draw_id = draw_id

    def decide(self, kind: JoinKind | ErrorCode) -> JoinDecision | None:
        group, request, member_id = self._group, self._request, self._request.member_id
        if kind is JoinKind.NEEDS_ID:
            return self._promise_id()
        if group.state is not GroupState.PREPARING_REBALANCE or group.ends_join_phase(member_id):
            return None
        if kind is JoinKind.BACK_WITH_ID:
            return self._admit()
        if kind is not JoinKind.REJOIN:
            return None
        is_same = unchanged(group.members[member_id], request, protocols_of(request))
        return self._park() if is_same else None

    def _promise_id(self) -> JoinDecision:
        group, new_id = self._group, self._draw_id()

        def adopt() -> None:
            group.pending_join[new_id] = None

        refused = join_refused(ErrorCode.MEMBER_ID_REQUIRED, new_id)
        return Decision(
            (), refused, self._session(new_id, self._request.session_timeout_ms), (), adopt
        )

    def _admit(self) -> JoinDecision:
        group, request, ticket = self._group, self._request, self._ticket
        member = new_member(request, self._caller, request.member_id)

        def adopt() -> None:
            group.new_member_added = group.new_member_added or group.initial_delay is not None
            group.add(member, request.protocol_type)
            group.join_tickets[member.member_id] = ticket

        timers = self._session(member.member_id, self._config.group_new_member_join_timeout_ms)
        return Decision((), Parked(ticket), timers, (), adopt)

    def _park(self) -> JoinDecision:
        """A member that asks again while parked lost its connection: the old request is let go."""
        tickets, member_id, ticket = self._group.join_tickets, self._request.member_id, self._ticket
        before = tickets.get(member_id)
        answers: tuple[tuple[int, JoinGroupResponse], ...] = ()
        if before is not None:
            answers = ((before, join_refused(ErrorCode.REBALANCE_IN_PROGRESS, member_id)),)

        def adopt() -> None:
            tickets[member_id] = ticket

        return Decision((), Parked(ticket), (), answers, adopt)

    def _session(self, member_id: str, timeout_ms: int) -> tuple[TimerSet]:
        key = SessionTimer(self._group.group_id, member_id)
        return (TimerSet(key, self._now_ms + timeout_ms),)


def sync_step(group: ClassicGroup, request: SyncGroupRequest, ticket: int) -> SyncDecision | None:
    """Anybody's SyncGroup but the one by which the leader ends the phase."""
    error = sync_error(group, request)
    if error is not None:
        return Decision((), sync_refused(error))
    member_id = request.member_id
    if group.state is GroupState.STABLE:
        return _told(group, member_id)
    return None if member_id == group.leader_id else _parked(group, member_id, ticket)


def _told(group: ClassicGroup, member_id: str) -> SyncDecision:
    def adopt() -> None:
        group.pending_sync.pop(member_id, None)

    return Decision((), synced(group, member_id), _no_longer_awaited(group, member_id), (), adopt)


def _parked(group: ClassicGroup, member_id: str, ticket: int) -> SyncDecision:
    before = group.sync_tickets.get(member_id)
    answers: tuple[tuple[int, SyncGroupResponse], ...] = ()
    if before is not None:
        answers = ((before, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS)),)

    def adopt() -> None:
        group.pending_sync.pop(member_id, None)
        group.sync_tickets[member_id] = ticket

    return Decision((), Parked(ticket), _no_longer_awaited(group, member_id), answers, adopt)


def _no_longer_awaited(group: ClassicGroup, member_id: str) -> tuple[TimerCancel, ...]:
    """With the last one the time to send SyncGroup ends."""
    if len(group.pending_sync) == 1 and member_id in group.pending_sync:
        return (TimerCancel(SyncTimer(group.group_id)),)
    return ()
