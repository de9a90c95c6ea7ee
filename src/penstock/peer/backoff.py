"""How long to leave a node alone that could not be reached: twice as long each time, up to a bound.

Counts failures and knows no clock: whoever asks says what time it is.
"""

from __future__ import annotations

from collections.abc import Callable

FIRST_S = 0.05
MAX_S = 1.0
JITTER = 0.2
"""As much sooner or later, so that many who lost the same node do not come back together."""


class Backoff:
    """`random` gives numbers from 0 up to 1."""

    __slots__ = ("_failures", "_random", "ready_at")

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._failures = 0
        self.ready_at = 0.0

    def fail(self, now: float) -> None:
        pause_s = min(MAX_S, FIRST_S * 2 ** min(self._failures, 16))
        self._failures += 1
        self.ready_at = now + pause_s * (1 - JITTER + 2 * JITTER * self._random())

    def reset(self) -> None:
        self._failures = 0
        self.ready_at = 0.0
