"""The time that retries and delays go by; `penstock.testing` has one that is moved by hand."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def wait_s(self, due_ms: int) -> float | None:
        """How long until then; None where time moves by hand, and `watch` says when it has."""
        return max(0.0, (due_ms - self.now_ms()) / 1000)

    def watch(self, moved: Callable[[], None]) -> None:
        """Call this whenever time is moved by hand."""
