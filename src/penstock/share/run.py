"""A stretch of neighbouring offsets of which the same is known."""

from __future__ import annotations

from penstock.share.batch import StateBatch
from penstock.share.state import RecordState


class Run:
    """`next_state` is what it will be once that is kept for good; until then nobody may touch it.
    `count` is how often its records were handed out."""

    __slots__ = ("count", "deadline_ms", "first", "last", "member_id", "next_state", "state")

    def __init__(self, first: int, last: int, state: RecordState, count: int = 0) -> None:
        self.first = first
        self.last = last
        self.state = state
        self.count = count
        self.member_id = ""
        self.deadline_ms = 0
        self.next_state: RecordState | None = None

    @property
    def length(self) -> int:
        return self.last - self.first + 1

    @property
    def is_available(self) -> bool:
        return self.state is RecordState.AVAILABLE and self.next_state is None

    @property
    def is_done(self) -> bool:
        """For good."""
        return self.next_state is None and self.state.is_final

    @property
    def outcome(self) -> RecordState:
        """Its state, if all that is being kept is kept."""
        return self.state if self.next_state is None else self.next_state

    def is_held_by(self, member_id: str) -> bool:
        return (
            self.state is RecordState.ACQUIRED
            and self.next_state is None
            and self.member_id == member_id
        )

    def acquire(self, member_id: str, deadline_ms: int) -> None:
        self.state = RecordState.ACQUIRED
        self.count += 1
        self.member_id = member_id
        self.deadline_ms = deadline_ms

    def settle(self, state: RecordState) -> None:
        self.state = state
        self.next_state = None
        self.member_id = ""
        self.deadline_ms = 0

    def cut(self, offset: int) -> Run:
        """The part from the offset on, which is taken off this one."""
        rest = Run(offset, self.last, self.state, self.count)
        rest.member_id = self.member_id
        rest.deadline_ms = self.deadline_ms
        rest.next_state = self.next_state
        self.last = offset - 1
        return rest

    def is_like(self, other: Run) -> bool:
        return (
            self.state is other.state
            and self.count == other.count
            and self.next_state is other.next_state
            and self.member_id == other.member_id
            and self.deadline_ms == other.deadline_ms
        )

    def kept(self) -> StateBatch:
        return StateBatch(self.first, self.last, self.outcome, self.count)
