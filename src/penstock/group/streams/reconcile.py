"""A member on its way from the tasks it has to those it shall have.

A task moves in two steps: who has it gives it up, then the other gets it; and no process ever has
two copies of its state open. Pure functions on one member.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from penstock.group.consumer.state import MemberEvent, MemberState, next_state
from penstock.group.streams.member import StreamsMember
from penstock.group.streams.task import NO_TASKS, OwnedTasks, TaskEpochs, Tasks, TaskSet, has_any
from penstock.model.error import ApiError, ErrorCode

IsFree = Callable[[tuple[str, int]], bool]

_NONE: frozenset[int] = frozenset()


class Goal(NamedTuple):
    epoch: int
    target: TaskSet
    reported: TaskSet | None
    """What the member says it has; None if it does not say."""
    is_active_free: IsFree
    is_copy_free: IsFree


def reconcile(member: StreamsMember, goal: Goal) -> StreamsMember:
    """The next state of the member; itself if it has to wait."""
    if member.state is MemberState.STABLE:
        return member if member.epoch == goal.epoch else _step(member, member.epoch, goal)
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        if goal.reported is None or has_any(goal.reported, member.revoking):
            return member
        return _step(member, member.epoch + 1, goal)
    if member.state is MemberState.UNRELEASED_PARTITIONS:
        return _step(member, member.epoch, goal)
    if goal.reported is None or any(goal.reported):
        raise ApiError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            "The member's state is unknown here: it must give up its tasks and join again.",
        )
    return _step(member, goal.epoch, goal)


def _step(member: StreamsMember, epoch: int, goal: Goal) -> StreamsMember:
    kept, going = _split(member.owned, goal.target)
    if not going.is_empty and (goal.reported is None or has_any(goal.reported, going)):
        event, owned, revoking = MemberEvent.MUST_REVOKE, kept, going
    else:
        owned, is_waiting = _with_free(kept, goal)
        event = MemberEvent.MUST_WAIT if is_waiting else MemberEvent.SETTLED
        epoch, revoking = goal.epoch, NO_TASKS
    return replace(
        member,
        state=next_state(member.state, event),
        previous_epoch=member.epoch,
        epoch=epoch,
        owned=owned,
        revoking=revoking,
    )


def _split(owned: OwnedTasks, target: TaskSet) -> tuple[OwnedTasks, OwnedTasks]:
    """What stays, and what must go."""
    active, going = _split_active(owned.active, target.active)
    standby, no_standby = _split_tasks(owned.standby, target.standby)
    warmup, no_warmup = _split_tasks(owned.warmup, target.warmup)
    return OwnedTasks(active, standby, warmup), OwnedTasks(going, no_standby, no_warmup)


def _split_active(owned: TaskEpochs, target: Tasks) -> tuple[TaskEpochs, TaskEpochs]:
    sides: tuple[dict[str, dict[int, int]], dict[str, dict[int, int]]] = ({}, {})
    for name, found in owned.items():
        for partition, assigned_epoch in found.items():
            side = sides[partition not in target.get(name, _NONE)]
            side.setdefault(name, {})[partition] = assigned_epoch
    return sides


def _split_tasks(owned: Tasks, target: Tasks) -> tuple[Tasks, Tasks]:
    kept = {name: found & target.get(name, _NONE) for name, found in owned.items()}
    going = {name: found - target.get(name, _NONE) for name, found in owned.items()}
    return _filled(kept), _filled(going)


def _with_free(kept: OwnedTasks, goal: Goal) -> tuple[OwnedTasks, bool]:
    """Adds what is free; and whether some of it is not."""
    active, active_waits = _with_free_active(kept.active, goal)
    standby, standby_waits = _with_free_tasks(kept.standby, goal.target.standby, goal)
    warmup, warmup_waits = _with_free_tasks(kept.warmup, goal.target.warmup, goal)
    return OwnedTasks(active, standby, warmup), active_waits or standby_waits or warmup_waits


def _with_free_active(kept: TaskEpochs, goal: Goal) -> tuple[TaskEpochs, bool]:
    owned = {name: dict(found) for name, found in kept.items()}
    is_waiting = False
    for name, wanted in goal.target.active.items():
        for partition in wanted - owned.get(name, {}).keys():
            if goal.is_active_free((name, partition)):
                owned.setdefault(name, {})[partition] = goal.epoch
            else:
                is_waiting = True
    return owned, is_waiting


def _with_free_tasks(kept: Tasks, target: Tasks, goal: Goal) -> tuple[Tasks, bool]:
    owned = dict(kept)
    is_waiting = False
    for name, wanted in target.items():
        new = wanted - owned.get(name, _NONE)
        free = frozenset(one for one in new if goal.is_copy_free((name, one)))
        is_waiting |= free != new
        owned[name] = owned.get(name, _NONE) | free
    return _filled(owned), is_waiting


def _filled(tasks: Tasks) -> Tasks:
    return {name: found for name, found in tasks.items() if found}
