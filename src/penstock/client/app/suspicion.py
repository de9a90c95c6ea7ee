"""Which record ends the process, found out by what was committed before it did. Pure.

A partition whose last commit says that somebody was at work, and not that he ended, was left by a
crash. The next owner takes its records one at a time and commits which one it takes in hand. A
record that was in hand twice when the process ended, after the crash that raised the suspicion,
has ended it three times: it goes to the dead letters.
"""

from __future__ import annotations

from typing import NamedTuple

CRASHES_MAX = 3


class InHand(NamedTuple):
    offset: int
    times: int
    """How often it was taken in hand by itself and not finished."""

    @classmethod
    def parse(cls, text: str) -> InHand | None:
        offset, _, times = text.partition("*")
        if offset.isdecimal() and times.isdecimal():
            return cls(int(offset), int(times))
        return None


class Suspicion:
    """Of one partition, from its assignment until its records have passed."""

    def __init__(self, in_hand: InHand | None, window: int) -> None:
        self._in_hand = in_hand
        self._remaining = window
        """As many records as may have been at work when the process ended."""

    @property
    def is_over(self) -> bool:
        return self._remaining <= 0

    def take(self, offset: int) -> InHand | None:
        """What to commit before the record is handled; None: it is not to be handled any more."""
        self._remaining -= 1
        before = self._in_hand
        times = before.times if before is not None and before.offset == offset else 0
        if 1 + times >= CRASHES_MAX:
            self._in_hand = None
            return None
        self._in_hand = InHand(offset, times + 1)
        return self._in_hand
