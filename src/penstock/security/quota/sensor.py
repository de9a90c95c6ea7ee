"""How much those who share a quota have used, and for how long they have to wait.

Kafka's arithmetic: the wait brings the rate over the window, the wait included, down to the quota.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from penstock.security.quota.sample import Samples, Windows

UNLIMITED = math.inf

_THROTTLE_WINDOWS = Windows(2, 30_000.0)
"""Of the average that is shown, as Kafka's other metrics have them."""


class Tags(NamedTuple):
    """Who shares a sensor; a part that is empty does not matter."""

    user: str
    client_id: str


class ThrottleTime:
    """The waits that were imposed: their average is a metric."""

    __slots__ = ("_count", "_sum_ms")

    def __init__(self) -> None:
        self._sum_ms = Samples(_THROTTLE_WINDOWS)
        self._count = Samples(_THROTTLE_WINDOWS)

    def note(self, throttle_ms: int, now_ms: float) -> None:
        self._sum_ms.add(throttle_ms, now_ms)
        self._count.add(1, now_ms)

    def average_ms(self, now_ms: float) -> float:
        count = self._count.total(now_ms)
        return self._sum_ms.total(now_ms) / count if count else 0.0


class RateSensor:
    __slots__ = ("_samples", "limit", "tags", "throttle_time", "throttle_time_max_ms", "used_ms")

    def __init__(
        self,
        tags: Tags,
        limit: float,
        windows: Windows,
        throttle_time_max_ms: float = UNLIMITED,
    ) -> None:
        self.tags = tags
        self.limit = limit
        """A second."""
        self.throttle_time_max_ms = throttle_time_max_ms
        self.throttle_time = ThrottleTime()
        self.used_ms = 0.0
        self._samples = Samples(windows)

    def record(self, value: float, now_ms: float) -> int:
        """How many milliseconds to wait; 0 within the quota."""
        self.add(value, now_ms)
        if self.limit == UNLIMITED:
            return 0
        over_ms = self._samples.total(now_ms) * 1000 / self.limit
        wait_ms = over_ms - self._samples.elapsed_ms(now_ms)
        if wait_ms <= 0:
            return 0
        return int(min(math.floor(wait_ms + 0.5), self.throttle_time_max_ms))

    def add(self, value: float, now_ms: float) -> None:
        """Without asking; below zero to take back what was recorded."""
        self.used_ms = now_ms
        self._samples.add(value, now_ms)

    def rate(self, now_ms: float) -> float:
        return self._samples.total(now_ms) * 1000 / self._samples.elapsed_ms(now_ms)
