"""The breaker: stops a pipeline whose records go to the dead letters in great part.

A pure machine over batches as they end, with time given to it. What is counted and what stops are
the run's.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from penstock.pipelines.error import DeclarationError


@dataclass(frozen=True, slots=True)
class Breaker:
    share: float = 0.5
    """Of the records of a window, how many may go to the dead letters; 1 never stops."""
    rows_min: int = 1_000
    """A window with fewer records than this says nothing."""
    window_s: float = 60.0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1 or self.rows_min < 1 or self.window_s <= 0:
            raise DeclarationError(
                "a breaker has a share from 0 to 1, rows_min of 1 or more and a window_s above 0,"
                f" not {self}"
            )


@dataclass(frozen=True, slots=True)
class Tripped:
    rows: int
    dead_letters: int

    @property
    def share(self) -> float:
        return self.dead_letters / self.rows

    def told(self, pipeline: str, topic: str, allowed: float) -> str:
        return (
            f"{pipeline} has stopped: {self.share:.0%} of the last {self.rows:,} records went to"
            f" {topic}, and its breaker allows {allowed:.0%}: see why with `penstock dlq list"
            f" {topic}`; started again it goes on where it stopped (--breaker 1: in any case)"
        )


@dataclass(slots=True)
class BreakerWindow:
    breaker: Breaker
    _batches: deque[tuple[float, int, int]] = field(default_factory=deque)
    _rows: int = 0
    _dead_letters: int = 0

    def add(self, now_s: float, rows: int, dead_letters: int) -> Tripped | None:
        """A batch that ended; what the window holds, if that is too much."""
        self._batches.append((now_s, rows, dead_letters))
        self._rows += rows
        self._dead_letters += dead_letters
        while self._batches[0][0] <= now_s - self.breaker.window_s:
            _, old_rows, old_letters = self._batches.popleft()
            self._rows -= old_rows
            self._dead_letters -= old_letters
        if self._rows < self.breaker.rows_min:
            return None
        if self._dead_letters <= self.breaker.share * self._rows:
            return None
        return Tripped(self._rows, self._dead_letters)
