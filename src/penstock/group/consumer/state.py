"""The states of a member of a consumer group and every way between them, in one table.

The second diagram in docs/groups.md is drawn from this table. Owns no member.
"""

from __future__ import annotations

from enum import Enum, IntEnum

from penstock.model.error import InvariantError


class MemberState(IntEnum):
    """Values are those in the log."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    """Told to give up partitions, and has not said yet that it did."""
    UNRELEASED_PARTITIONS = 2
    """Waits for partitions that others have not given up yet."""
    UNKNOWN = 127
    """Written by a release that knows more states than this one."""


class MemberEvent(Enum):
    MUST_REVOKE = "has to give up partitions"
    MUST_WAIT = "others still have some of its partitions"
    SETTLED = "has all it shall have"


_ONWARD = {
    MemberEvent.MUST_REVOKE: MemberState.UNREVOKED_PARTITIONS,
    MemberEvent.MUST_WAIT: MemberState.UNRELEASED_PARTITIONS,
    MemberEvent.SETTLED: MemberState.STABLE,
}

TRANSITIONS: dict[MemberState, dict[MemberEvent, MemberState]] = {
    MemberState.STABLE: _ONWARD,
    MemberState.UNREVOKED_PARTITIONS: _ONWARD,
    MemberState.UNRELEASED_PARTITIONS: _ONWARD,
    # It is let on only when it says that it has nothing, so there is nothing to give up.
    MemberState.UNKNOWN: {
        event: to for event, to in _ONWARD.items() if event is not MemberEvent.MUST_REVOKE
    },
}


def next_state(state: MemberState, event: MemberEvent) -> MemberState:
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise InvariantError(f"a member in state {state.name}: {event.value}") from None
