"""The states of a classic group and every way between them, in one table.

The diagram in docs/groups.md is drawn from this table. Owns no group.
"""

from __future__ import annotations

from enum import Enum

from penstock.model.error import InvariantError


class GroupState(Enum):
    """Values are the names clients see."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    """Of a group that there is not: no group ever is in it."""


class GroupEvent(Enum):
    REBALANCE_NEEDED = "a rebalance is needed"
    ALL_JOINED = "the join phase ends with members"
    ALL_LEFT = "the join phase ends without members"
    ASSIGNED = "the leader sends the assignment"


TRANSITIONS: dict[GroupState, dict[GroupEvent, GroupState]] = {
    GroupState.EMPTY: {
        GroupEvent.REBALANCE_NEEDED: GroupState.PREPARING_REBALANCE,
    },
    GroupState.PREPARING_REBALANCE: {
        GroupEvent.ALL_JOINED: GroupState.COMPLETING_REBALANCE,
        GroupEvent.ALL_LEFT: GroupState.EMPTY,
    },
    GroupState.COMPLETING_REBALANCE: {
        GroupEvent.ASSIGNED: GroupState.STABLE,
        GroupEvent.REBALANCE_NEEDED: GroupState.PREPARING_REBALANCE,
    },
    GroupState.STABLE: {
        GroupEvent.REBALANCE_NEEDED: GroupState.PREPARING_REBALANCE,
    },
}


def next_state(state: GroupState, event: GroupEvent) -> GroupState:
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise InvariantError(f"a group in state {state.value}: {event.value}") from None
