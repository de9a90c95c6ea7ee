"""Records that wait for their time, in the order of it. Pure.

A backoff, a delay in memory, a record of a retry topic that is not due: none of them holds a
worker or a thread.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

W = TypeVar("W")


class Held(Generic[W]):
    def __init__(self) -> None:
        self._heap: list[tuple[int, int, W]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def next_ms(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def add(self, due_ms: int, work: W) -> None:
        self._count += 1
        heapq.heappush(self._heap, (due_ms, self._count, work))

    def due(self, now_ms: int) -> list[W]:
        """Take out what is due, the earliest first."""
        found: list[W] = []
        while self._heap and self._heap[0][0] <= now_ms:
            found.append(heapq.heappop(self._heap)[2])
        return found

    def discard(self, unwanted: Callable[[W], bool]) -> list[W]:
        gone = [one[2] for one in self._heap if unwanted(one[2])]
        self._heap = [one for one in self._heap if not unwanted(one[2])]
        heapq.heapify(self._heap)
        return gone
