"""How much of its time the thread of an event loop computes.

Read from the system's clock of that thread, so that nothing is done for it while nobody asks.
"""

from __future__ import annotations

import time
from collections.abc import Callable

WINDOW_S = 1.0
"""At least as long is what the answer is about: two who ask do not spoil it for each other."""


class LoopIdle:
    """Made, and asked, in the thread of the loop."""

    def __init__(
        self,
        wall_s: Callable[[], float] = time.monotonic,
        busy_s: Callable[[], float] = time.thread_time,
    ) -> None:
        self._wall_s = wall_s
        self._busy_s = busy_s
        self._since = self._before = (wall_s(), busy_s())

    def ratio(self) -> float:
        """From 0, always at work, to 1, never: over the last second or more."""
        now = (self._wall_s(), self._busy_s())
        if now[0] - self._since[0] >= WINDOW_S:
            self._before, self._since = self._since, now
        passed_s = now[0] - self._before[0]
        if passed_s <= 0:
            return 1.0
        return min(max(1 - (now[1] - self._before[1]) / passed_s, 0.0), 1.0)


def wanted_s() -> float:
    """For how long this thread has computed, or waited for a processor to do so: a loop that
    others keep from its work is busy too. Where the system does not tell, only the former."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            computed_ns, waited_ns, *_ = file.read().split()
    except (OSError, ValueError):
        return time.thread_time()
    return (int(computed_ns) + int(waited_ns)) / 1e9
