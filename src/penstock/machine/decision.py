"""What a machine answers when asked to decide: records to write, and the reply once they are safe.

Owns the value only. A decision changes nothing by being made; it takes effect when its records are
replayed. All of these are tuples: every request makes some, and nothing is made faster.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

RecordT = TypeVar("RecordT")
ReplyT = TypeVar("ReplyT")


class TimerSet(NamedTuple):
    """Ask for `expire(key)` at or after `deadline_ms`; replaces an earlier deadline of that key."""

    key: Hashable
    deadline_ms: int


class TimerCancel(NamedTuple):
    key: Hashable


TimerChange = TimerSet | TimerCancel


class Parked(NamedTuple):
    """No reply yet: a later decision answers under this key, which no other caller waits on.

    A member that joins a group waits so until the others have joined too.
    """

    key: Hashable


class Decision(NamedTuple, Generic[RecordT, ReplyT]):
    """`records` are written and replayed in order, all or none; `reply` is given at commit.

    `answers` go to callers parked earlier, also at commit. Timers are soft state: they are not
    written, and a machine sets them anew after a load.

    `adopt` lets the machine take over what the decision means for its soft state. It is called
    once, right after the records were written and replayed, and never when the write fails.
    """

    records: Sequence[RecordT]
    reply: ReplyT | Parked
    timers: Sequence[TimerChange] = ()
    answers: Sequence[tuple[Hashable, object]] = ()
    adopt: Callable[[], None] | None = None
