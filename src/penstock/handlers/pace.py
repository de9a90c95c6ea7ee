"""Long work on the event loop, done so that others have their turn in between."""

from __future__ import annotations

import asyncio
from time import perf_counter

SLICE_S = 0.005
"""For how long one request over many elements is worked on at a stretch."""


class Pace:
    """To be kept through one piece of work; `keep` is awaited behind every step of it."""

    __slots__ = ("_size", "_step_at", "_until")

    def __init__(self) -> None:
        self._step_at = perf_counter()
        self._until = self._step_at + SLICE_S
        self._size = 1

    def size(self, most: int) -> int:
        """How much to do in the next step: as much as its time allows, as far as is known."""
        return min(self._size, most)

    async def keep(self) -> None:
        now = perf_counter()
        if now - self._step_at > SLICE_S:
            self._size = max(1, self._size // 2)
        elif now - self._step_at < SLICE_S / 4:
            self._size = min(2 * self._size, 1 << 20)
        if now > self._until:
            await asyncio.sleep(0)
            now = perf_counter()
            self._until = now + SLICE_S
        self._step_at = now
