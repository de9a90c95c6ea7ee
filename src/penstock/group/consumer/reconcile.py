"""A member on its way from what it has to what it shall have.

Partitions move in two steps: who has one gives it up, then the other gets it. A member so waits at
most for partitions that come to it, never for those it keeps. Pure functions on one member.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from typing import NamedTuple

from penstock.group.consumer.member import ConsumerMember, Owned, Partitions
from penstock.group.consumer.state import MemberEvent, MemberState, next_state
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId

IsFree = Callable[[TopicId, int], bool]

_NOTHING: frozenset[int] = frozenset()


class Goal(NamedTuple):
    epoch: int
    target: Partitions
    subscribed: Set[TopicId]
    """A target may be older than the subscription: what is no longer asked for is not given."""
    subscription_changed: bool
    reported: Mapping[TopicId, Set[int]] | None
    """What the member says it has; None if it does not say."""
    is_free: IsFree


def reconcile(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """The next state of the member; itself if it has to wait."""
    if not goal.subscription_changed and member.is_settled(goal.epoch):
        return member
    if member.state is MemberState.STABLE:
        if member.epoch != goal.epoch:
            return _step(member, member.epoch, goal)
        return _without_unsubscribed(member, goal)
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        if not _still_has(goal.reported, member.revoking):
            return _step(member, member.epoch, goal)
        if goal.subscription_changed:
            return _without_unsubscribed(member, goal)
        return member
    if member.state is MemberState.UNRELEASED_PARTITIONS:
        return _step(member, member.epoch, goal)
    if goal.reported is None or goal.reported:
        raise ApiError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            "The member's state is unknown here: it must give up its partitions and join again.",
        )
    return _step(member, goal.epoch, goal)


def _step(member: ConsumerMember, epoch: int, goal: Goal) -> ConsumerMember:
    kept, revoking = _split(member.owned, goal)
    if revoking and _still_has(goal.reported, revoking):
        return replace(
            member,
            state=next_state(member.state, MemberEvent.MUST_REVOKE),
            previous_epoch=member.epoch,
            epoch=epoch,
            owned=kept,
            revoking=revoking,
        )
    owned, is_waiting = _with_free(kept, goal)
    event = MemberEvent.MUST_WAIT if is_waiting else MemberEvent.SETTLED
    return replace(
        member,
        state=next_state(member.state, event),
        previous_epoch=member.epoch,
        epoch=goal.epoch,
        owned=owned,
        revoking={},
    )


def _split(owned: Owned, goal: Goal) -> tuple[Owned, Owned]:
    """What stays, and what must go."""
    kept: dict[TopicId, dict[int, int]] = {}
    going: dict[TopicId, dict[int, int]] = {}
    for topic_id, found in owned.items():
        wanted = goal.target.get(topic_id, _NOTHING) if topic_id in goal.subscribed else _NOTHING
        for partition, assigned_epoch in found.items():
            side = kept if partition in wanted else going
            side.setdefault(topic_id, {})[partition] = assigned_epoch
    return kept, going


def _with_free(kept: Owned, goal: Goal) -> tuple[Owned, bool]:
    """Adds what nobody else has; and whether somebody still has some of it."""
    owned = {topic_id: dict(found) for topic_id, found in kept.items()}
    is_waiting = False
    for topic_id, wanted in goal.target.items():
        if topic_id not in goal.subscribed:
            continue
        for partition in wanted - owned.get(topic_id, {}).keys():
            if goal.is_free(topic_id, partition):
                owned.setdefault(topic_id, {})[partition] = goal.epoch
            else:
                is_waiting = True
    return owned, is_waiting


def _without_unsubscribed(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """A member that drops a topic shall stop reading it now, not with the next assignment."""
    going = {one: found for one, found in member.owned.items() if one not in goal.subscribed}
    if not going:
        return member
    kept = {one: found for one, found in member.owned.items() if one in goal.subscribed}
    revoking = {one: dict(found) for one, found in member.revoking.items()}
    for topic_id, found in going.items():
        revoking.setdefault(topic_id, {}).update(found)
    if not _still_has(goal.reported, revoking):
        return replace(member, previous_epoch=member.epoch, owned=kept)
    return replace(
        member,
        state=next_state(member.state, MemberEvent.MUST_REVOKE),
        previous_epoch=member.epoch,
        owned=kept,
        revoking=revoking,
    )


def _still_has(reported: Mapping[TopicId, Set[int]] | None, revoking: Owned) -> bool:
    """A member that says nothing has everything still."""
    if reported is None:
        return True
    return any(
        not reported.get(topic_id, _NOTHING).isdisjoint(found)
        for topic_id, found in revoking.items()
    )
