"""The clock everything is given instead of reading time itself."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Wall clock, milliseconds since the epoch: for time stamps and retention."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go backwards: for timeouts and measurements."""
        ...
