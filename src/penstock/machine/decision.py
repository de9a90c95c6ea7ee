"""What a machine answers when asked to decide: records to write, and the reply once they are safe.

Owns the value only. A decision changes nothing by being made; it takes effect when its records are
replayed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

RecordT = TypeVar("RecordT")
ReplyT = TypeVar("ReplyT")


@dataclass(frozen=True, slots=True)
class TimerSet:
    """Ask for `expire(key)` at or after `deadline_ms`; replaces an earlier deadline of that key."""

    key: Hashable
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class TimerCancel:
    key: Hashable


TimerChange = TimerSet | TimerCancel


@dataclass(frozen=True, slots=True)
class Decision(Generic[RecordT, ReplyT]):
    """`records` are written and replayed in order, all or none; `reply` is given at commit.

    Timers are soft state: they are not written, and a machine sets them anew after a load.
    """

    records: Sequence[RecordT]
    reply: ReplyT
    timers: Sequence[TimerChange] = ()
