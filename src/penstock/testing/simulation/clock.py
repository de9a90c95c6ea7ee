"""The clock of a host: the loop's time, and a wall clock that may be set like any other."""

from __future__ import annotations

from penstock.testing.simulation.loop import VirtualLoop

START_MS = 1_700_000_000_000


class HostClock:
    """A `penstock.model.clock.Clock`."""

    def __init__(self, loop: VirtualLoop, start_ms: int = START_MS) -> None:
        self._now_ns = loop.now_ns
        self.monotonic = loop.time
        self.start_ms = start_ms
        """Moved to set the wall clock forward or back; monotonic time goes on as ever."""

    def now_ms(self) -> int:
        return self.start_ms + self._now_ns() // 1_000_000

    def now_ns(self) -> int:
        return self.start_ms * 1_000_000 + self._now_ns()
