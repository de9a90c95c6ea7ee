"""The time that retries and delays go by; `penstock.testing` has one that is moved by hand."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def elapsed_ms(self) -> int:
        """Since some moment; goes on evenly also where the time of day is set back."""
        return time.monotonic_ns() // 1_000_000

    def timer_s(self, wait_ms: int) -> float | None:
        """For how long to wait; None where time moves by hand, and `watch` says when it has."""
        return max(0.0, wait_ms / 1000)

    def watch(self, moved: Callable[[], None]) -> None:
        """Call this whenever time is moved by hand."""
