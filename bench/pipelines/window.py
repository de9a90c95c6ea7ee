"""What a stretch of measuring says: percentiles, lag and whether it grows, which rate holds.

Pure arithmetic on what the processes reported. Times are wall clock seconds of one machine,
latencies milliseconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Count = tuple[float, int]
"""A moment, and how many there had been in all by then."""

# Lag that rises by less than this many seconds' worth over a whole window is jitter.
GROWTH_TOLERATED_S = 0.5
# A load that falls short of its rate by more says nothing about that rate.
RATE_TOLERATED = 0.98


@dataclass(frozen=True)
class Window:
    """The payments produced from `began` until `ended`; what came before was the warm-up."""

    began: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass(frozen=True)
class Stretch:
    """One rate, measured."""

    rate: float
    p50_ms: float
    p99_ms: float
    max_ms: float
    sampled: int
    # The share of payments still without a verdict when the measuring ended.
    unseen: float
    # In seconds of the rate: how far the verdicts were behind, early and late in the window.
    lag_early_s: float
    lag_late_s: float
    produced: int
    verdicts: int

    @property
    def lag_grows(self) -> bool:
        return self.lag_late_s - self.lag_early_s > GROWTH_TOLERATED_S

    def holds(self, rate: float, p99_ms: float) -> bool:
        return not self.lag_grows and self.p99_ms < p99_ms and self.rate >= RATE_TOLERATED * rate


def percentile(ordered: Sequence[float], share: float) -> float:
    """By nearest rank, of values in ascending order."""
    if not ordered:
        raise ValueError("no verdict was seen")
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def count_at(counts: Sequence[Count], moment: float) -> float:
    """How many there were at a moment, on a straight line between what was reported."""
    place = bisect_right(counts, moment, key=lambda count: count[0])
    if place == 0:
        return 0.0
    if place == len(counts):
        return float(counts[-1][1])
    (before, low), (after, high) = counts[place - 1], counts[place]
    return low + (high - low) * (moment - before) / (after - before)


def lag_seconds(
    produced: Sequence[Count], judged: Sequence[Count], window: Window, rate: float
) -> tuple[float, float]:
    """The median lag in the first and in the last quarter of the window, in seconds of the rate."""
    steps = 40
    moments = [window.began + window.seconds * step / steps for step in range(1, steps + 1)]
    lags = [max(0.0, count_at(produced, at) - count_at(judged, at)) / rate for at in moments]
    return median(lags[: steps // 4]), median(lags[-steps // 4 :])


def latencies(
    samples: Iterable[tuple[int, float]], handed: Sequence[Count], window: Window
) -> list[float]:
    """In ascending order, of samples (number of the payment, moment its verdict was seen).

    `handed` says at which moment all payments below a number had been handed to the producer,
    and goes on from one call of it to the next.
    """
    found = []
    for number, seen in samples:
        place = bisect_right(handed, number, key=lambda count: count[1])
        if 0 < place < len(handed) and window.began <= handed[place][0] < window.ended:
            found.append((seen - handed[place][0]) * 1000)
    return sorted(found)


def unseen(expected: float, seen: int, until: float, window: Window) -> list[float]:
    """How long those have waited at least whose verdicts had not come when the measuring ended.

    To leave them out would flatter a pipeline that falls behind. They are the last produced.
    """
    missing = int(expected) - seen
    # Sampling by position is off by a few at both ends of the window.
    if missing <= max(5.0, expected / 100):
        return []
    each = window.seconds / expected
    return [(until - window.ended + each * number) * 1000 for number in range(missing)]


def summarise(
    samples: Iterable[tuple[int, float]],
    produced: Sequence[Count],
    judged: Sequence[Count],
    window: Window,
    every: int = 1,
) -> Stretch:
    """What the payments produced inside the window met with, one in `every` of them looked at."""
    inside = count_at(produced, window.ended) - count_at(produced, window.began)
    rate = inside / window.seconds
    mine = latencies(samples, produced, window)
    missing = unseen(inside / every, len(mine), judged[-1][0], window)
    mine = sorted(mine + missing)
    early, late = lag_seconds(produced, judged, window, max(rate, 1.0))
    return Stretch(
        rate=rate,
        p50_ms=percentile(mine, 0.5),
        p99_ms=percentile(mine, 0.99),
        max_ms=mine[-1],
        sampled=len(mine),
        unseen=len(missing) / max(1, len(mine)),
        lag_early_s=early,
        lag_late_s=late,
        produced=produced[-1][1] if produced else 0,
        verdicts=judged[-1][1] if judged else 0,
    )


def largest_held(stretches: Mapping[int, Stretch], p99_ms: float) -> int:
    """The highest rate of an unbroken climb; 0 when already the first does not hold."""
    held = 0
    for rate in sorted(stretches):
        if not stretches[rate].holds(rate, p99_ms):
            break
        held = rate
    return held
