"""JoinGroup: a member asks to be in the next generation.

`join_kind` says what a request is, for the steps of a rebalance (`step.py`) as for the turns here.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from penstock.group.caller import Caller
from penstock.group.classic.check import member_error
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.member import Member, Protocols, protocols_of, rebalance_timeout_of
from penstock.group.classic.rebalance import complete_if_joined, prepare, prepare_or_complete
from penstock.group.classic.reply import join_refused, joined, sync_refused
from penstock.group.classic.state import GroupState
from penstock.group.classic.turn import Turn
from penstock.group.config import GroupConfig
from penstock.machine import Parked
from penstock.model.error import ErrorCode
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse

JoinReply = JoinGroupResponse | Parked

_MEMBER_ID_REQUIRED_SINCE = 4
_SKIP_ASSIGNMENT_SINCE = 9


def join_request_error(request: JoinGroupRequest, config: GroupConfig) -> ErrorCode | None:
    """What can be refused without looking at the group."""
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    shortest, longest = config.group_min_session_timeout_ms, config.group_max_session_timeout_ms
    if not shortest <= request.session_timeout_ms <= longest:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return None


def is_full(group: ClassicGroup, member_id: str, size_max: int) -> bool:
    """During a rebalance those who already wait are counted, not the members: a lowered limit so
    keeps out the last to rejoin."""
    if group.state is GroupState.PREPARING_REBALANCE:
        return member_id not in group.join_tickets and len(group.join_tickets) >= size_max
    if group.is_empty:
        return False
    return member_id not in group.members and len(group.members) >= size_max


def needs_member_id(request: JoinGroupRequest, caller: Caller) -> bool:
    """Whether it is given an id to come back with (KIP-394): a client that never sees the answer so
    leaves no member behind."""
    return request.group_instance_id is None and caller.api_version >= _MEMBER_ID_REQUIRED_SINCE


class JoinKind(Enum):
    REFUSED_FULL = auto()
    NEW = auto()
    NEW_STATIC = auto()
    NEEDS_ID = auto()
    BACK_WITH_ID = auto()
    """A new member, which comes with the id it was given."""
    REJOIN = auto()


def join_kind(
    group: ClassicGroup, request: JoinGroupRequest, caller: Caller, size_max: int
) -> JoinKind | ErrorCode:
    """Or why it is refused, where nothing else comes of it."""
    member_id = request.member_id
    if is_full(group, member_id, size_max):
        return JoinKind.REFUSED_FULL
    if not group.supports(request.protocol_type, [one.name for one in request.protocols]):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if not member_id:
        if request.group_instance_id is not None:
            return JoinKind.NEW_STATIC
        return JoinKind.NEEDS_ID if needs_member_id(request, caller) else JoinKind.NEW
    if member_id in group.pending_join:
        is_static = request.group_instance_id is not None
        return ErrorCode.UNKNOWN_SERVER_ERROR if is_static else JoinKind.BACK_WITH_ID
    return member_error(group, member_id, request.group_instance_id) or JoinKind.REJOIN


def new_member(request: JoinGroupRequest, caller: Caller, member_id: str) -> Member:
    return Member(
        member_id=member_id,
        instance_id=request.group_instance_id,
        client_id=caller.client_id,
        client_host=caller.client_host,
        rebalance_timeout_ms=rebalance_timeout_of(request),
        session_timeout_ms=request.session_timeout_ms,
        protocols=protocols_of(request),
        is_new=True,
    )


def unchanged(member: Member, request: JoinGroupRequest, protocols: Protocols) -> bool:
    return (
        member.protocols == protocols
        and member.session_timeout_ms == request.session_timeout_ms
        and member.rebalance_timeout_ms == rebalance_timeout_of(request)
    )


def join(
    turn: Turn,
    kind: JoinKind | ErrorCode,
    request: JoinGroupRequest,
    caller: Caller,
    ticket: int,
    draw_id: Callable[[], str],
) -> JoinReply:
    """`draw_id` gives an id for a member that has none."""
    member_id = request.member_id
    if isinstance(kind, ErrorCode):
        return join_refused(kind, member_id)
    if kind is JoinKind.REFUSED_FULL:
        if member_id:
            turn.expel(member_id)
            complete_if_joined(turn)  # nobody else may be missing
        return join_refused(ErrorCode.GROUP_MAX_SIZE_REACHED)
    if kind is JoinKind.REJOIN:
        return _rejoin(turn, request, ticket)
    if kind is JoinKind.BACK_WITH_ID:
        return _add(turn, request, caller, ticket, member_id)
    new_id = draw_id()
    if kind is JoinKind.NEW_STATIC:
        return _join_new_static(turn, request, caller, ticket, new_id)
    if kind is JoinKind.NEEDS_ID:
        turn.group.pending_join[new_id] = None
        turn.start_pending_session(new_id, request.session_timeout_ms)
        return join_refused(ErrorCode.MEMBER_ID_REQUIRED, new_id)
    return _add(turn, request, caller, ticket, new_id)


def _rejoin(turn: Turn, request: JoinGroupRequest, ticket: int) -> JoinReply:
    group, member_id = turn.group, request.member_id
    if _needs_rebalance(group, request):
        turn.park_join(member_id, ticket)
        _update(turn, group.members[member_id], request)
        prepare_or_complete(turn)
        return Parked(ticket)
    # Most likely the answer to its last JoinGroup was lost: give it again.
    settling = group.state is GroupState.COMPLETING_REBALANCE
    return joined(group, member_id, settling and member_id == group.leader_id)


def _needs_rebalance(group: ClassicGroup, request: JoinGroupRequest) -> bool:
    """A leader may rejoin a stable group unchanged to have partitions assigned anew, such as
    after a topic grew."""
    member = group.members[request.member_id]
    if group.state is GroupState.PREPARING_REBALANCE:
        return True
    if group.state is GroupState.STABLE and member.member_id == group.leader_id:
        return True
    return member.protocols != protocols_of(request)


def _join_new_static(
    turn: Turn, request: JoinGroupRequest, caller: Caller, ticket: int, new_id: str
) -> JoinReply:
    group = turn.group
    old_id = group.static_ids.get(request.group_instance_id or "")
    if old_id is None:
        return _add(turn, request, caller, ticket, new_id)
    leader_before = group.leader_id or ""
    _fence(turn, old_id)
    member = group.rename(old_id, new_id)
    turn.start_session(_update(turn, member, request))
    if group.state is not GroupState.STABLE or group.select_protocol() != group.protocol_name:
        turn.park_join(new_id, ticket)
        if group.state is GroupState.PREPARING_REBALANCE:
            complete_if_joined(turn)
        else:
            # The leader may already be assigning to the old id: that assignment is void.
            prepare(turn)
        return Parked(ticket)
    group.refresh_subscription()
    turn.store()
    return _resumed(group, new_id, leader_before, caller.api_version)


def _resumed(
    group: ClassicGroup, member_id: str, leader_before: str, api_version: int
) -> JoinGroupResponse:
    """The member takes its old place without a rebalance. A leader that cannot be told to skip
    the assignment (KIP-814) is told instead that the old id still leads, or it would assign."""
    if api_version >= _SKIP_ASSIGNMENT_SINCE:
        is_leader = group.leader_id == member_id
        return joined(group, member_id, with_members=is_leader, skip_assignment=is_leader)
    response = joined(group, member_id, with_members=False)
    response.leader = leader_before
    return response


def _fence(turn: Turn, old_id: str) -> None:
    turn.answer_join(old_id, join_refused(ErrorCode.FENCED_INSTANCE_ID, old_id))
    turn.answer_sync(old_id, sync_refused(ErrorCode.FENCED_INSTANCE_ID))
    turn.end_session(old_id)


def _add(
    turn: Turn, request: JoinGroupRequest, caller: Caller, ticket: int, member_id: str
) -> Parked:
    group = turn.group
    if group.state is GroupState.PREPARING_REBALANCE and group.initial_delay is not None:
        group.new_member_added = True
    group.add(new_member(request, caller, member_id), request.protocol_type)
    turn.park_join(member_id, ticket)
    turn.start_pending_session(member_id, turn.config.group_new_member_join_timeout_ms)
    prepare_or_complete(turn)
    return Parked(ticket)


def _update(turn: Turn, member: Member, request: JoinGroupRequest) -> Member:
    protocols = protocols_of(request)
    if unchanged(member, request, protocols):
        return member  # as in nearly every rejoin
    updated = member._replace(
        protocols=protocols,
        rebalance_timeout_ms=rebalance_timeout_of(request),
        session_timeout_ms=request.session_timeout_ms,
    )
    turn.group.put(updated)
    return updated
