"""How much each broker moved, by hour or by day, and when it moved the most. Pure.

Sums of hours are what is read. Where a broker has not written one, or not of the whole hour (it is
not over, or the broker was killed), what it wrote of the intervals counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from penstock.model.figures import HOUR_MS, DiskFigures, Figures, sum_figures

DAY_MS: Final = 24 * HOUR_MS
ALARM_SHARE: Final = 0.6
"""Of what a broker can do: the rest is for peaks, catching up, and a broker that is down."""
WHOLE_SHARE: Final = 0.95
_THIN_MAX: Final = 72
"""Hours of which intervals are read, the last ones."""


class Span(NamedTuple):
    """An hour or a day of one broker."""

    from_ms: int
    figures: Figures
    peak_in: float
    """Bytes a second in its busiest hour."""
    peak_out: float
    peak_ms: int
    """When that hour began."""

    @property
    def bytes_in_s(self) -> float:
        return self.figures.bytes_in / self.figures.seconds

    @property
    def bytes_out_s(self) -> float:
        return self.figures.bytes_out / self.figures.seconds


class Usage(NamedTuple):
    broker: int
    spans: tuple[Span, ...]

    @property
    def total_in(self) -> int:
        return sum(each.figures.bytes_in for each in self.spans)

    @property
    def total_out(self) -> int:
        return sum(each.figures.bytes_out for each in self.spans)

    @property
    def peak(self) -> Span:
        return max(self.spans, key=lambda each: max(each.peak_in, each.peak_out))

    @property
    def peak_s(self) -> float:
        return max(self.peak.peak_in, self.peak.peak_out)

    @property
    def disks(self) -> tuple[DiskFigures, ...]:
        return self.spans[-1].figures.disks


def thin_hours(hours: Iterable[Figures], from_ms: int, now_ms: int) -> list[int]:
    """When the hours began of which some broker has not written all, since it first wrote."""
    covered: dict[tuple[int, int], float] = defaultdict(float)
    first: dict[int, int] = {}
    for each in hours:
        covered[each.broker, each.hour_ms] += each.seconds
        first[each.broker] = min(first.get(each.broker, each.hour_ms), each.hour_ms)
    begin = min(first.values(), default=from_ms) // HOUR_MS * HOUR_MS
    thin = [
        hour
        for hour in range(begin, now_ms, HOUR_MS)
        if not first
        or any(
            covered[broker, hour] * 1000 < WHOLE_SHARE * HOUR_MS
            for broker, since in first.items()
            if hour >= since
        )
    ]
    return thin[-_THIN_MAX:]


def usage_of(
    hours: Sequence[Figures], minutes: Sequence[Figures], span_ms: int = DAY_MS
) -> list[Usage]:
    """By broker. `minutes` are those of thin hours."""
    by_broker: dict[int, dict[int, Figures]] = defaultdict(dict)
    whole, parts = _by_hour(hours), _by_hour(minutes)
    for broker, hour in sorted({*whole, *parts}):
        known = [whole.get((broker, hour), []), parts.get((broker, hour), [])]
        best = max(known, key=lambda some: sum(each.seconds for each in some))
        total = sum_figures(best)
        if total is not None:
            by_broker[broker][hour] = total
    return [Usage(broker, _spans(found, span_ms)) for broker, found in by_broker.items()]


def _by_hour(figures: Iterable[Figures]) -> dict[tuple[int, int], list[Figures]]:
    found: dict[tuple[int, int], list[Figures]] = defaultdict(list)
    for each in figures:
        found[each.broker, each.hour_ms].append(each)
    return found


def _spans(hours: Mapping[int, Figures], span_ms: int) -> tuple[Span, ...]:
    grouped: dict[int, list[Figures]] = defaultdict(list)
    for hour, each in hours.items():
        grouped[hour // span_ms * span_ms].append(each)
    return tuple(_span(start, some) for start, some in grouped.items())


def _span(start_ms: int, hours: list[Figures]) -> Span:
    total = sum_figures(hours)
    assert total is not None
    busiest = max(hours, key=lambda each: max(each.bytes_in, each.bytes_out) / each.seconds)
    return Span(
        start_ms,
        total,
        max(each.bytes_in / each.seconds for each in hours),
        max(each.bytes_out / each.seconds for each in hours),
        busiest.hour_ms,
    )


def alarms(usage: Usage, capacity: int | None) -> list[str]:
    """In one line each, with what it is about."""
    found = []
    if capacity is not None and usage.peak_s >= ALARM_SHARE * capacity:
        found.append(
            f"broker {usage.broker} moved {usage.peak_s / capacity:.0%} of what it can in its "
            f"busiest hour; the alarm is at {ALARM_SHARE:.0%}: `penstock capacity` plans for more"
        )
    found += [
        f"the disk under {each.path} of broker {usage.broker} is "
        f"{each.used_bytes / each.total_bytes:.0%} full; the alarm is at {ALARM_SHARE:.0%}: "
        "`penstock capacity` says when it will be full"
        for each in usage.disks
        if each.total_bytes and each.used_bytes >= ALARM_SHARE * each.total_bytes
    ]
    return found
