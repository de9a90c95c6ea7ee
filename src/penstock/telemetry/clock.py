"""The real clock."""

from __future__ import annotations

import time


class SystemClock:
    __slots__ = ()

    monotonic = staticmethod(time.monotonic)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
