"""What the brokers wrote down of their past, asked by the doctor's rules. Pure.

The past of a group is what it read, and what was written for it, when it was not behind yet: with
few records waiting, compared with those that wait now. That needs no time stamps of records, which
a backfill makes old.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Final, NamedTuple

from penstock.model.figures import ClientFigures, Figures, GroupFigures, ThrottleFigures

CALM_SHARE: Final = 0.1
"""Of the records that wait now: with no more of them a group was not behind."""
CALM_FACTOR: Final = 3
CALM_LAG: Final = 20
"""And not many times of what it usually has: the beginning of the trouble is no calm either."""
CALM_MIN: Final = 3
"""Intervals: fewer are no past to compare with."""
RECENT: Final = 3
"""The last intervals of a broker are what it does now."""
RECENT_MS: Final = 600_000


class Moment(NamedTuple):
    """One interval of one topic of one group."""

    from_ms: int
    until_ms: int
    figures: GroupFigures

    @property
    def seconds(self) -> float:
        return max(self.until_ms - self.from_ms, 1) / 1000


Moments = Mapping[tuple[str, str], Sequence[Moment]]
"""By group and topic, in the order of time."""


class Calm(NamedTuple):
    """How a group did before it fell behind: records a second."""

    from_ms: int
    until_ms: int
    consumed_s: float
    produced_s: float
    intervals: int


class Writer(NamedTuple):
    """What a client wrote to a topic, in bytes a second."""

    user: str
    client_id: str
    before_s: float
    now_s: float

    @property
    def grown_s(self) -> float:
        return max(self.now_s - self.before_s, 0.0)


@dataclass(frozen=True)
class Past:
    minutes: tuple[Figures, ...] = ()
    """Of the last hours."""
    hours: tuple[Figures, ...] = ()
    """Of the last days."""

    def calm(self, group: str, topic: str, lag: int) -> Calm | None:
        """Minutes are closer than hours; where it has been behind in all of them, hours."""
        for moments in (self._minutes_of, self._hours_of):
            found = _calm(moments.get((group, topic), ()), lag)
            if found is not None:
                return found
        return None

    def hours_of(self, group: str, topic: str) -> tuple[Moment, ...]:
        return tuple(self._hours_of.get((group, topic), ()))

    @cached_property
    def _minutes_of(self) -> Moments:
        return _moments(self.minutes)

    @cached_property
    def _hours_of(self) -> Moments:
        return _moments(self.hours)

    def writers(self, topic: str, before: Calm) -> list[Writer]:
        """Of a topic, then and since; those who write most more than then come first."""
        then = _written(self.minutes, topic, before.from_ms, before.until_ms)
        until_ms = max((each.until_ms for each in self.minutes), default=0)
        now = _written(self.minutes, topic, before.until_ms, until_ms)
        found = [Writer(*who, then.get(who, 0.0), now.get(who, 0.0)) for who in {**then, **now}]
        return sorted(found, key=lambda each: (-each.grown_s, each.client_id))

    @cached_property
    def throttled(self) -> tuple[ThrottleFigures, ...]:
        """Who has to wait now, on any broker."""
        return tuple(one for some in self.recent().values() for one in some[-1].throttled)

    def recent(self) -> dict[int, list[Figures]]:
        """The last intervals of each broker that still writes them down."""
        newest = max((each.until_ms for each in self.minutes), default=0)
        found = by_broker(self.minutes)
        return {
            broker: some[-RECENT:]
            for broker, some in found.items()
            if some[-1].until_ms > newest - RECENT_MS
        }


def by_broker(figures: Iterable[Figures]) -> dict[int, list[Figures]]:
    found: dict[int, list[Figures]] = defaultdict(list)
    for each in sorted(figures, key=lambda one: one.until_ms):
        found[each.broker].append(each)
    return dict(found)


def _moments(figures: Iterable[Figures]) -> Moments:
    found: dict[tuple[str, str], list[Moment]] = defaultdict(list)
    for each in sorted(figures, key=lambda one: one.until_ms):
        for one in each.groups:
            found[one.group, one.topic].append(Moment(each.from_ms, each.until_ms, one))
    return found


def _calm(found: Sequence[Moment], lag: int) -> Calm | None:
    if not found:
        return None
    usual = sorted(each.figures.lag for each in found)[len(found) // 4]
    most = min(CALM_SHARE * lag, max(CALM_FACTOR * usual, CALM_LAG))
    quiet = [
        each for each in found if each.figures.lag <= most and each.figures.consumed is not None
    ]
    if len(quiet) < CALM_MIN:
        return None
    return Calm(
        quiet[0].from_ms,
        quiet[-1].until_ms,
        median((each.figures.consumed or 0) / each.seconds for each in quiet),
        median((each.figures.produced or 0) / each.seconds for each in quiet),
        len(quiet),
    )


def _written(
    figures: Iterable[Figures], topic: str, from_ms: int, until_ms: int
) -> dict[tuple[str, str], float]:
    seconds = max(until_ms - from_ms, 1) / 1000
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for each in figures:
        if from_ms < each.until_ms <= until_ms:
            for one in each.clients:
                if one.topic == topic:
                    sums[_who(one)] += one.bytes_in / seconds
    return sums


def _who(client: ClientFigures) -> tuple[str, str]:
    return client.user, client.client_id
