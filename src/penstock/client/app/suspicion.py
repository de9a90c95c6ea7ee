"""Which record ends the process, found out by what was committed before it did. Pure.

A partition whose last commit says that somebody was at work, and not that he ended, was left by a
crash. The next owner takes its records in groups, as many as are handled at the same time anyway,
and commits which of them it has in hand. If the process ends again, the records of that group are
taken one at a time. One that was in hand by itself when the process ended has ended it three times:
it goes to the dead letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

CRASHES_MAX = 3


class InHand(NamedTuple):
    first: int
    last: int
    """The same where it is one record."""
    times: int
    """How often the process has ended with it, the first time not counted."""

    def covers(self, offset: int) -> bool:
        return self.first <= offset <= self.last

    def __str__(self) -> str:
        where = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{where}*{self.times}"

    @classmethod
    def parse(cls, text: str) -> InHand | None:
        where, _, times = text.partition("*")
        first, _, last = where.partition("-")
        last = last or first
        if first.isdecimal() and last.isdecimal() and times.isdecimal():
            return cls(int(first), int(last), int(times))
        return None


class Suspicion:
    """Of one partition, from its assignment until its records have passed."""

    def __init__(self, in_hand: InHand | None, window: int, group: int) -> None:
        """`window`: as many records as may have been at work when the process ended; `group`: as
        many as are handled at the same time."""
        self._suspect = in_hand
        self._remaining = window
        self._group = group
        self._first = 0
        self._taken = 0
        """Of the group that is under way."""

    @property
    def is_over(self) -> bool:
        return self._remaining <= 0

    @property
    def has_room(self) -> bool:
        """Whether more may be handled beside those that are under way."""
        return self._taken < self._group

    def wants_alone(self, offset: int) -> bool:
        """Whether this record, the next, is to be handled while no other is that is suspect."""
        return self._suspect is not None and self._suspect.covers(offset)

    def take(self, offsets: Sequence[int]) -> InHand | None:
        """Of the records that wait, those to handle now: what to commit before. None: the first is
        not to be handled any more."""
        suspect = self._suspect
        if suspect is None or not suspect.covers(offsets[0]):
            return self._join(offsets)
        self._taken = self._group
        self._remaining -= 1
        if suspect.first == suspect.last and suspect.times + 1 >= CRASHES_MAX:
            self._suspect = None
            return None
        return InHand(offsets[0], offsets[0], suspect.times + 1)

    def _join(self, offsets: Sequence[int]) -> InHand:
        free = list(takewhile(lambda each: not self.wants_alone(each), offsets))
        joined = free[: self._group - self._taken]
        if not self._taken:
            self._first = joined[0]
        self._taken += len(joined)
        self._remaining -= len(joined)
        return InHand(self._first, joined[-1], 1)

    def passed(self) -> None:
        """All that were under way are through."""
        self._taken = 0
