"""The shape of a pure machine as its runtime sees it."""

from __future__ import annotations

from typing import Protocol, TypeVar

from penstock.machine.decision import Decision
from penstock.machine.timers import TimerKey

RecordT = TypeVar("RecordT")


class StateMachine(Protocol[RecordT]):
    """Besides these two, a machine has `decide_*` methods of its own: they look at the state,
    return a Decision and change nothing. A request changes the state by its records alone."""

    def replay(self, record: RecordT, offset: int) -> None:
        """The one way in: the same for a record just decided and for one read at load."""
        ...

    def expire(self, key: TimerKey, now_ms: int) -> Decision[RecordT, None]:
        """A timer came due. It may be out of date: the machine looks before it decides."""
        ...
