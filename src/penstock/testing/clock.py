"""Time that stands still until a test moves it."""

from __future__ import annotations


class SimulatedClock:
    """A `penstock.model.clock.Clock`: wall clock and monotonic time move together."""

    def __init__(self, now_ms: int = 1_700_000_000_000, monotonic: float = 0.0) -> None:
        self._now_ms = now_ms
        self._start_ms = now_ms
        self._start_s = monotonic
        self._elapsed_us = 0

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic(self) -> float:
        return self._start_s + self._elapsed_us / 1_000_000

    def advance(self, seconds: float) -> None:
        """Move on; microseconds are kept whole, so that many small steps add up."""
        if seconds < 0:
            raise ValueError("time only moves on; set_now_ms moves the wall clock alone")
        self._elapsed_us += round(seconds * 1_000_000)
        self._now_ms = self._start_ms + self._elapsed_us // 1000

    def set_now_ms(self, now_ms: int) -> None:
        """Set the wall clock as an administrator would: it may go back, monotonic time does not."""
        self._start_ms = now_ms - self._elapsed_us // 1000
        self._now_ms = now_ms
