"""A member joins, or says that it lives and what it has: it learns what it shall have.

Three steps, for consumer and classic members alike: the member as it now says it is, the group's
target assignment if something changed, the member's way to its target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.group.caller import Caller
from penstock.group.consumer.check import (
    Reported,
    check_epoch,
    check_instance_released,
    known_member,
    known_static_member,
    reported_partitions,
)
from penstock.group.consumer.draft import Draft
from penstock.group.consumer.match import is_unmatched, match_topics
from penstock.group.consumer.member import JOINING_EPOCH, ConsumerMember, Owned
from penstock.group.consumer.reconcile import Goal, reconcile
from penstock.group.consumer.record import (
    current_record,
    member_record,
    member_tombstones,
    target_record,
)
from penstock.group.consumer.setting import ConsumerSettings
from penstock.group.consumer.state import MemberState
from penstock.group.consumer.target import bump_epoch, topic_ids_of, update_target
from penstock.group.timer import RevocationTimer
from penstock.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)

_WAITING_INTERVAL_MS = 1_000
_WAITING_INTERVAL_MS_MIN = 100


def heartbeat(
    draft: Draft,
    request: ConsumerGroupHeartbeatRequest,
    caller: Caller,
    settings: ConsumerSettings,
    draw_id: Callable[[], str],
) -> ConsumerGroupHeartbeatResponse:
    reported = reported_partitions(request)
    before = _find_or_make(draft, request, request.member_id or draw_id(), reported)
    after = settle(draft, before, _updated(before, request, caller), reported, settings)
    draft.start_session(after.member_id, settings.session_timeout_ms)
    response = ConsumerGroupHeartbeatResponse(
        member_id=after.member_id,
        member_epoch=after.epoch,
        heartbeat_interval_ms=_next_heartbeat_ms(draft, after, settings),
    )
    if _wants_assignment(request) or not before.has_same_partitions(after):
        response.assignment = _assignment(after.owned)
    return response


def _next_heartbeat_ms(draft: Draft, member: ConsumerMember, settings: ConsumerSettings) -> int:
    """Who waits for something soon to come asks again soon, instead of a whole interval later."""
    group, longest_ms = draft.group, settings.heartbeat_interval_ms
    if group.assignment_epoch < group.epoch:
        due_ms = group.assignment_timestamp_ms + settings.assignment_interval_ms
        return max(_WAITING_INTERVAL_MS_MIN, min(due_ms - draft.now_ms, longest_ms))
    if member.state is MemberState.UNRELEASED_PARTITIONS or is_unmatched(draft, member):
        return min(_WAITING_INTERVAL_MS, longest_ms)
    return longest_ms


def settle(
    draft: Draft,
    before: ConsumerMember,
    after: ConsumerMember,
    reported: Reported,
    settings: ConsumerSettings,
) -> ConsumerMember:
    """Takes in what the member says of itself, and moves it towards its target."""
    changed = introduce(draft, before, after)
    update_target(draft, settings.assignment_interval_ms)
    return advance(draft, after.member_id, changed, reported)


def introduce(draft: Draft, before: ConsumerMember, after: ConsumerMember) -> bool:
    """Whether what the member asks for has changed."""
    is_new = after.member_id not in draft.group.members
    if is_new or not after.is_same_person(before):
        draft.write(member_record(draft.group_id, after))
    topics_changed = after.topics != before.topics
    regex_changed = after.regex != before.regex
    matches_changed = match_topics(draft, before, after)
    must_bump = draft.group.epoch == 0 or topics_changed or regex_changed or matches_changed
    if must_bump or draft.group.must_check_topics:
        bump_epoch(draft, must_bump)
    return topics_changed or regex_changed


def advance(
    draft: Draft, member_id: str, subscription_changed: bool, reported: Reported
) -> ConsumerMember:
    group = draft.group
    member = group.members[member_id]
    if member.is_settled(group.assignment_epoch) and not subscription_changed:
        return member
    goal = Goal(
        group.assignment_epoch,
        group.targets.get(member_id, {}),
        topic_ids_of(group, member, draft.topics),
        subscription_changed,
        reported,
        lambda topic_id, partition: group.is_free(topic_id, partition, member_id),
    )
    moved = reconcile(member, goal)
    if moved != member:
        draft.write(current_record(draft.group_id, moved))
        if moved.classic is None:
            _time_revocation(draft, member, moved)
    return moved


def _time_revocation(draft: Draft, before: ConsumerMember, after: ConsumerMember) -> None:
    key = RevocationTimer(draft.group_id, after.member_id)
    if after.state is MemberState.UNREVOKED_PARTITIONS:
        draft.start(key, after.rebalance_timeout_ms)
    elif before.state is MemberState.UNREVOKED_PARTITIONS:
        draft.cancel(key)


def _find_or_make(
    draft: Draft, request: ConsumerGroupHeartbeatRequest, member_id: str, reported: Reported
) -> ConsumerMember:
    group, epoch = draft.group, request.member_epoch
    if request.instance_id is None:
        if epoch == JOINING_EPOCH and member_id not in group.members:
            return ConsumerMember(member_id)
        member = known_member(group, member_id)
        check_epoch(member, epoch, reported)
        return member
    if epoch == JOINING_EPOCH:
        return _take_static_place(draft, request.instance_id, member_id)
    member = known_static_member(group, request.instance_id, member_id)
    check_epoch(member, epoch, reported)
    return member


def _take_static_place(draft: Draft, instance_id: str, member_id: str) -> ConsumerMember:
    old = draft.group.static_member(instance_id)
    if old is None:
        return draft.group.members.get(member_id) or ConsumerMember(member_id)
    if old.classic is None:
        check_instance_released(old)
    return replace_member(draft, old, member_id)


def replace_member(draft: Draft, old: ConsumerMember, new_id: str) -> ConsumerMember:
    """The same instance under a new id keeps what it had, and starts at epoch 0."""
    group_id = draft.group_id
    new = replace(old, member_id=new_id, epoch=0, previous_epoch=0)
    target = draft.group.targets.get(old.member_id, {})
    draft.write(*member_tombstones(group_id, old.member_id))
    draft.write(
        member_record(group_id, new),
        target_record(group_id, new_id, target),
        current_record(group_id, new),
    )
    if old.member_id != new_id:
        draft.cancel_all(old.member_id)
    return new


def _updated(
    member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, caller: Caller
) -> ConsumerMember:
    """What a request leaves out stays as it was: in most heartbeats, everything."""
    if _says_nothing(member, request, caller):
        return member
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    timeout_ms, assignor = request.rebalance_timeout_ms, request.server_assignor
    return replace(
        member,
        instance_id=member.instance_id if request.instance_id is None else request.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        assignor=member.assignor if assignor is None else assignor,
        topics=member.topics if names is None else frozenset(names),
        regex=member.regex if regex is None else regex,
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=None,
    )


def _says_nothing(
    member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, caller: Caller
) -> bool:
    return (
        request.subscribed_topic_names is None
        and request.subscribed_topic_regex is None
        and request.rebalance_timeout_ms == -1
        and request.server_assignor is None
        and request.rack_id is None
        and request.instance_id in (None, member.instance_id)
        and (caller.client_id, caller.client_host) == (member.client_id, member.client_host)
        and member.classic is None
    )


def _wants_assignment(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Joining members, and those that send everything, as after a lost answer."""
    subscribed = request.subscribed_topic_names is not None
    is_full = (
        request.rebalance_timeout_ms != -1
        and (subscribed or request.subscribed_topic_regex is not None)
        and request.topic_partitions is not None
    )
    return request.member_epoch == JOINING_EPOCH or is_full


def _assignment(owned: Owned) -> Assignment:
    return Assignment(
        topic_partitions=[
            ResponseTopicPartitions(topic_id=topic_id, partitions=sorted(found))
            for topic_id, found in owned.items()
        ]
    )
