"""Members of the classic protocol in a consumer group: JoinGroup, SyncGroup, Heartbeat and
LeaveGroup, answered by the coordinator's own assignment.

Nobody leads such a group and nobody waits for others: a member joins, gets its generation, which is
its epoch, and fetches its assignment. It is told to join again whenever it has to give something
up, or can get more.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from penstock.group.caller import Caller
from penstock.group.classic.leave import leave_response, leaving_members
from penstock.group.classic.member import Protocols, protocols_of, rebalance_timeout_of
from penstock.group.classic.reply import join_refused, sync_refused
from penstock.group.classic.subscription import CONSUMER_PROTOCOL_TYPE
from penstock.group.config import GroupConfig
from penstock.group.consumer.check import check_size, known_member, known_static_member
from penstock.group.consumer.coordinator import ConsumerCoordinator
from penstock.group.consumer.draft import Draft
from penstock.group.consumer.group import ConsumerGroup, ConsumerGroupState
from penstock.group.consumer.heartbeat import advance, introduce, replace_member
from penstock.group.consumer.member import ClassicSide, ConsumerMember
from penstock.group.consumer.migration import can_downgrade, named
from penstock.group.consumer.state import MemberState
from penstock.group.consumer.target import update_target
from penstock.group.consumer.topic import TopicView
from penstock.group.record import GroupEntry
from penstock.group.timer import ResyncTimer, SessionTimer
from penstock.machine import Decision, TimerSet
from penstock.model.error import ApiError, ErrorCode, ProtocolError
from penstock.model.id import TopicId
from penstock.protocol.consumer_bytes import decode_subscription, encode_assignment
from penstock.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from penstock.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from penstock.protocol.messages.records.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_MEMBER_ID_REQUIRED_SINCE = 4

JoinDecision = Decision[GroupEntry, JoinGroupResponse]
SyncDecision = Decision[GroupEntry, SyncGroupResponse]
HeartbeatDecision = Decision[GroupEntry, HeartbeatResponse]
LeaveDecision = Decision[GroupEntry, LeaveGroupResponse]


class ClassicMembers:
    __slots__ = ("_config", "_coordinator", "_new_uuid")

    def __init__(
        self,
        config: GroupConfig,
        coordinator: ConsumerCoordinator,
        new_uuid: Callable[[], str],
    ) -> None:
        self._config = config
        self._coordinator = coordinator
        self._new_uuid = new_uuid

    # --- JoinGroup ---

    def decide_join(
        self, group: ConsumerGroup, request: JoinGroupRequest, caller: Caller, now_ms: int
    ) -> JoinDecision:
        try:
            return self._join(group, request, caller, now_ms)
        except ApiError as error:
            return Decision((), join_refused(error.code, request.member_id))
        except ProtocolError:
            return Decision((), join_refused(ErrorCode.UNKNOWN_SERVER_ERROR, request.member_id))

    def _join(
        self, group: ConsumerGroup, request: JoinGroupRequest, caller: Caller, now_ms: int
    ) -> JoinDecision:
        protocols = protocols_of(request)
        check_size(group, request.member_id, self._config.group_consumer_max_size)
        _check_protocols(group, request.protocol_type, protocols)
        name = request.group_instance_id or caller.client_id
        member_id = request.member_id or f"{name}-{self._new_uuid()}"
        must_come_back = not request.member_id and request.group_instance_id is None
        if must_come_back and caller.api_version >= _MEMBER_ID_REQUIRED_SINCE:
            return Decision((), join_refused(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        subscription = decode_subscription(protocols[0][1])
        draft = self._coordinator.draft(group, now_ms)
        draft.may_describe = caller.may_describe
        before = _find_or_make(draft, request, member_id)
        after = _updated(before, request, subscription, caller)
        return self._settle(draft, before, after, subscription)

    def _settle(
        self,
        draft: Draft,
        before: ConsumerMember,
        after: ConsumerMember,
        subscription: ConsumerProtocolSubscription,
    ) -> JoinDecision:
        changed = introduce(draft, before, after)
        is_last = before.classic is None and before.instance_id is not None
        must_downgrade = is_last and can_downgrade(draft.group, (), self._config)
        if not must_downgrade:
            settings = self._coordinator.settings_of(draft.group_id)
            update_target(draft, settings.assignment_interval_ms)
        is_behind = draft.group.assignment_epoch < draft.group.epoch
        if not must_downgrade or not is_behind:
            reported = _owned_by(subscription, draft.topics)
            after = advance(draft, after.member_id, changed, reported)
        reply = _joined(after)
        if must_downgrade:
            # Who is on its way to its target would not hear of it in a group that is stable.
            is_settled = draft.group.state is ConsumerGroupState.STABLE
            return self._coordinator.downgrade(draft, (), not is_settled, reply)
        assert after.classic is not None
        draft.end_rejoin(after.member_id)
        draft.start_session(after.member_id, after.classic.session_timeout_ms)
        draft.start(ResyncTimer(draft.group_id, after.member_id), after.rebalance_timeout_ms)
        return draft.decision(reply)

    # --- SyncGroup ---

    def decide_sync(
        self, group: ConsumerGroup, request: SyncGroupRequest, now_ms: int
    ) -> SyncDecision:
        draft = self._coordinator.draft(group, now_ms)
        try:
            member, classic = _classic_member(group, request.member_id, request.group_instance_id)
            _check_generation(member, request.generation_id)
            _check_protocol(classic, request.protocol_type, request.protocol_name)
            assignment = encode_assignment(
                named(member.owned, self._coordinator.topics), classic.protocols[0][1]
            )
        except ApiError as error:
            return Decision((), sync_refused(error.code))
        is_behind = group.epoch > member.epoch
        if is_behind and member.state is not MemberState.UNREVOKED_PARTITIONS:
            draft.ask_to_rejoin(member.member_id, member.rebalance_timeout_ms)
            return draft.decision(sync_refused(ErrorCode.REBALANCE_IN_PROGRESS))
        draft.cancel(ResyncTimer(group.group_id, member.member_id))
        draft.start_session(member.member_id, classic.session_timeout_ms)
        return draft.decision(
            SyncGroupResponse(
                protocol_type=request.protocol_type,
                protocol_name=request.protocol_name,
                assignment=assignment,
            )
        )

    # --- Heartbeat ---

    def decide_heartbeat(
        self, group: ConsumerGroup, request: HeartbeatRequest, now_ms: int
    ) -> HeartbeatDecision:
        try:
            member, classic = _classic_member(group, request.member_id, request.group_instance_id)
            _check_generation(member, request.generation_id)
        except ApiError as error:
            return Decision((), HeartbeatResponse(error_code=error.code))
        draft = self._coordinator.draft(group, now_ms)
        draft.start_session(member.member_id, classic.session_timeout_ms)
        code = ErrorCode.NONE
        if _must_rejoin(group, member):
            code = ErrorCode.REBALANCE_IN_PROGRESS
            draft.ask_to_rejoin(member.member_id, member.rebalance_timeout_ms)
        return draft.decision(HeartbeatResponse(error_code=code))

    # --- LeaveGroup ---

    def decide_leave(
        self, group: ConsumerGroup, request: LeaveGroupRequest, caller: Caller, now_ms: int
    ) -> LeaveDecision:
        results, leaving = [], []
        for one in leaving_members(request, caller.api_version):
            try:
                member = _leaving_member(group, one)
            except ApiError as error:
                results.append(_left(one, one.member_id, error.code))
            else:
                leaving.append(member)
                results.append(_left(one, member.member_id, ErrorCode.NONE))
        reply = leave_response(results, caller.api_version)
        if not leaving:
            return Decision((), reply)
        return self._coordinator.fence(self._coordinator.draft(group, now_ms), leaving, reply)


def renewed_session(group: ConsumerGroup, member_id: str, now_ms: int) -> tuple[TimerSet, ...]:
    """A commit is a sign of life of a classic member."""
    member = group.members.get(member_id)
    if member is None or member.classic is None:
        return ()
    key = SessionTimer(group.group_id, member_id)
    return (TimerSet(key, now_ms + member.classic.session_timeout_ms),)


# --- checks ---


def _check_protocols(group: ConsumerGroup, protocol_type: str, protocols: Protocols) -> None:
    """Members of the classic protocol must have one in common, for the way back."""
    common: set[str] | None = None
    for member in group.classic_members:
        names = {name for name, _ in (member.classic.protocols if member.classic else ())}
        common = names if common is None else common & names
    offered = {name for name, _ in protocols}
    fits = bool(offered) if common is None else not common.isdisjoint(offered)
    if protocol_type != CONSUMER_PROTOCOL_TYPE or not fits:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerMember, ClassicSide]:
    if instance_id is None:
        member = known_member(group, member_id)
    else:
        member = known_static_member(group, instance_id, member_id)
    if member.classic is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member, member.classic


def _check_generation(member: ConsumerMember, generation: int) -> None:
    if generation != member.epoch:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)


def _check_protocol(classic: ClassicSide, protocol_type: str | None, name: str | None) -> None:
    if protocol_type not in (None, CONSUMER_PROTOCOL_TYPE) or name not in (
        None,
        classic.protocols[0][0],
    ):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _must_rejoin(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """To catch up with the group, to give up partitions, or to get those that are free now."""
    if member.epoch < group.epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    is_waiting = member.state is MemberState.UNRELEASED_PARTITIONS
    return is_waiting and not group.waits_for_others(member)


# --- the member ---


def _find_or_make(draft: Draft, request: JoinGroupRequest, member_id: str) -> ConsumerMember:
    group, instance_id = draft.group, request.group_instance_id
    if instance_id is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    if request.member_id:
        return known_static_member(group, instance_id, member_id)
    old = group.static_member(instance_id)
    return ConsumerMember(member_id) if old is None else replace_member(draft, old, member_id)


def _updated(
    member: ConsumerMember,
    request: JoinGroupRequest,
    subscription: ConsumerProtocolSubscription,
    caller: Caller,
) -> ConsumerMember:
    return replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=rebalance_timeout_of(request),
        topics=frozenset(subscription.topics),
        regex="",
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=ClassicSide(request.session_timeout_ms, protocols_of(request)),
    )


def _owned_by(
    subscription: ConsumerProtocolSubscription, topics: TopicView
) -> dict[TopicId, Set[int]]:
    owned: dict[TopicId, Set[int]] = {}
    for one in subscription.owned_partitions:
        topic = topics.get(one.topic)
        if topic is not None:
            owned[topic.topic_id] = frozenset(one.partitions)
    return owned


def _leaving_member(group: ConsumerGroup, leaving: MemberIdentity) -> ConsumerMember:
    """An admin removes a static member by its instance id alone."""
    instance_id, member_id = leaving.group_instance_id, leaving.member_id
    if instance_id is not None and not member_id:
        member_id = group.static_ids.get(instance_id, "")
    return _classic_member(group, member_id, instance_id)[0]


def _joined(member: ConsumerMember) -> JoinGroupResponse:
    assert member.classic is not None
    return JoinGroupResponse(
        member_id=member.member_id,
        generation_id=member.epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=member.classic.protocols[0][0],
    )


def _left(leaving: MemberIdentity, member_id: str, error: ErrorCode) -> MemberResponse:
    return MemberResponse(
        member_id=member_id, group_instance_id=leaving.group_instance_id, error_code=error
    )
