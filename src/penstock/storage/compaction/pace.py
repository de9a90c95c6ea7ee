"""Holding compaction to a rate of bytes."""

from __future__ import annotations

import time
from collections.abc import Callable

_BURST_S = 0.1


class Pace:
    """Time and sleep are given, so that simulations neither wait nor look at a clock."""

    __slots__ = ("_monotonic", "_ready_at", "_seconds_per_byte", "_sleep")

    def __init__(
        self,
        bytes_per_second: float,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds_per_byte = 1 / bytes_per_second
        self._monotonic = monotonic
        self._sleep = sleep
        self._ready_at = monotonic()

    def spend(self, count: int) -> None:
        """Account for bytes read or written, and wait when they came too fast."""
        if not self._seconds_per_byte:
            return
        now = self._monotonic()
        self._ready_at = max(self._ready_at, now - _BURST_S) + count * self._seconds_per_byte
        if self._ready_at > now:
            self._sleep(self._ready_at - now)
