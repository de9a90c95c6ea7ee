"""How full the disks of a node are, how fast they fill, and when they are full, when it is scraped.

Growth is of what is used between the present scrape and one up to an hour ago; a sample a minute is
kept. What others put on the same disk counts: it fills all the same.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Final

from penstock.model.clock import Clock
from penstock.storage.log_dirs import LogDirs
from penstock.telemetry.metric import LabelledGauge

_WINDOW_S: Final = 3600.0
_EVERY_S: Final = 60.0
_LABELS: Final = ("directory",)
_Rows = Iterator[tuple[tuple[str, ...], float]]


class DiskGrowth:
    """Of one disk: told what is used at some moments, it says bytes a second."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def update(self, now_s: float, used_bytes: int) -> float:
        samples = self._samples
        while len(samples) > 1 and samples[1][0] <= now_s - _WINDOW_S:
            samples.popleft()
        if not samples or now_s >= samples[-1][0] + _EVERY_S:
            samples.append((now_s, used_bytes))
        first_s, first = samples[0]
        return (used_bytes - first) / (now_s - first_s) if now_s > first_s else 0.0


def seconds_to_full(usable_bytes: int, growth_bytes_s: float) -> float:
    """Infinite while it does not grow."""
    return usable_bytes / growth_bytes_s if growth_bytes_s > 0 else math.inf


class Disks:
    """Of all directories that work; one that fails meanwhile is left out."""

    def __init__(self, log_dirs: LogDirs, clock: Clock) -> None:
        self._log_dirs = log_dirs
        self._clock = clock
        self._growth: dict[str, DiskGrowth] = {}

    def spaces(self) -> Iterator[tuple[str, int, int]]:
        offline = self._log_dirs.offline
        for each in self._log_dirs.all:
            if each not in offline:
                try:
                    total, usable = each.space()
                except OSError:
                    continue
                yield each.path, total, usable

    def growth(self) -> Iterator[tuple[str, int, float]]:
        now_s = self._clock.monotonic()
        for path, total, usable in self.spaces():
            grown = self._growth.setdefault(path, DiskGrowth())
            yield path, usable, grown.update(now_s, total - usable)


def disk_gauges(log_dirs: LogDirs, clock: Clock) -> list[LabelledGauge]:
    disks = Disks(log_dirs, clock)

    def totals() -> _Rows:
        yield from (((path,), float(total)) for path, total, _ in disks.spaces())

    def usables() -> _Rows:
        yield from (((path,), float(usable)) for path, _, usable in disks.spaces())

    def growths() -> _Rows:
        yield from (((path,), grown) for path, _, grown in disks.growth())

    def ends() -> _Rows:
        for path, usable, grown in disks.growth():
            yield (path,), seconds_to_full(usable, grown)

    return [
        ("penstock_disk_total_bytes", "Of the disk a directory is on", _LABELS, totals),
        ("penstock_disk_usable_bytes", "Free on that disk for this node", _LABELS, usables),
        (
            "penstock_disk_growth_bytes_per_second",
            "How fast that disk fills, over the last hour of scrapes",
            _LABELS,
            growths,
        ),
        (
            "penstock_disk_full_in_seconds",
            "When that disk is full, at this rate; infinite while it does not fill",
            _LABELS,
            ends,
        ),
    ]
