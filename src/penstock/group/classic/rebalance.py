"""The rebalance itself: who is waited for, how long, and what its end brings.

Every function works on a turn. Which request or timer led here is the callers' affair.
"""

from __future__ import annotations

from penstock.group.classic.reply import joined, sync_refused
from penstock.group.classic.state import GroupEvent, GroupState
from penstock.group.classic.turn import Turn
from penstock.group.timer import JoinTimer, SyncTimer
from penstock.model.error import ErrorCode

_RETRY_DELAY_MS_MIN = 1_000
"""A client may name a rebalance timeout of nothing, which must not become a busy loop."""


def prepare_or_complete(turn: Turn) -> None:
    """Something changed that needs a new generation."""
    if turn.group.can_rebalance:
        prepare(turn)
    else:
        complete_if_joined(turn)


def prepare(turn: Turn) -> None:
    group = turn.group
    if group.state is GroupState.COMPLETING_REBALANCE:
        _dismiss_syncs(turn)
    if group.is_empty:
        turn.move(GroupEvent.REBALANCE_NEEDED)
        _start_initial_delay(turn)
        return
    group.pending_sync.clear()
    turn.cancel(SyncTimer(group.group_id))
    turn.move(GroupEvent.REBALANCE_NEEDED)
    if group.all_joined:
        complete_join(turn)
    else:
        turn.start(JoinTimer(group.group_id), group.rebalance_timeout_ms)


def complete_if_joined(turn: Turn) -> None:
    """The first rebalance of a group ends by its timer alone: more members may be starting."""
    group = turn.group
    if group.state is not GroupState.PREPARING_REBALANCE:
        return
    if group.previous_state is not GroupState.EMPTY and group.all_joined:
        complete_join(turn)


def complete_join(turn: Turn) -> None:
    """End the join phase: dynamic members that did not come back are out, static ones stay until
    their session ends, and everybody who waits learns of the new generation."""
    group = turn.group
    turn.cancel(JoinTimer(group.group_id))
    for member in list(group.members.values()):
        if member.member_id not in group.join_tickets and not member.is_static:
            turn.expel(member.member_id)
    if group.members and not group.elect_joined_leader():
        # Only static members are left and none is back: wait until their sessions end.
        group.initial_delay = None
        delay_ms = max(group.rebalance_timeout_ms, _RETRY_DELAY_MS_MIN)
        turn.start(JoinTimer(group.group_id), delay_ms)
        return
    group.start_generation(turn.now_ms)
    if group.members:
        _announce_generation(turn)
    else:
        turn.store()


def continue_initial_delay(turn: Turn) -> None:
    """A stretch of the initial delay is over. Who came meanwhile is worth another stretch, as
    long as the whole does not exceed the rebalance timeout."""
    group = turn.group
    delay_ms, remaining_ms = group.initial_delay or (0, 0)
    if not group.new_member_added or remaining_ms == 0:
        complete_join(turn)
        return
    group.new_member_added = False
    stretch_ms = min(turn.config.group_initial_rebalance_delay_ms, remaining_ms)
    group.initial_delay = (stretch_ms, max(remaining_ms - delay_ms, 0))
    turn.start(JoinTimer(group.group_id), stretch_ms)


def expel_unsynced(turn: Turn) -> None:
    """The time to send SyncGroup is over: who did not is taken for gone."""
    for member_id in list(turn.group.pending_sync):
        turn.expel(member_id)
    prepare(turn)


def _start_initial_delay(turn: Turn) -> None:
    delay_ms = turn.config.group_initial_rebalance_delay_ms
    remaining_ms = max(turn.group.rebalance_timeout_ms - delay_ms, 0)
    turn.group.initial_delay = (delay_ms, remaining_ms)
    turn.start(JoinTimer(turn.group.group_id), delay_ms)


def _dismiss_syncs(turn: Turn) -> None:
    """Whoever waits for an assignment that will not come must join again. A session may have run
    out while its member was parked here, so it starts anew."""
    for member in list(turn.group.members.values()):
        turn.group.assign(member, b"")
        if turn.answer_sync(member.member_id, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS)):
            turn.start_session(member)


def _announce_generation(turn: Turn) -> None:
    group = turn.group
    for member in list(group.members.values()):
        is_leader = member.member_id == group.leader_id
        turn.answer_join(member.member_id, joined(group, member.member_id, is_leader))
        turn.start_session(member)
        if member.is_new:
            group.members[member.member_id] = member._replace(is_new=False)
        group.pending_sync[member.member_id] = None
    turn.start(SyncTimer(group.group_id), group.rebalance_timeout_ms)
