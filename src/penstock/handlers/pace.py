"""Long work on the event loop, done so that others have their turn in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

SLICE_S = 0.005
"""For how long one request over many elements is worked on at a stretch."""


class Pace:
    """To be kept through one piece of work; `keep` is awaited behind every step of it."""

    __slots__ = ("_now_s", "_size", "_step_at", "_until")

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._step_at = now_s()
        self._until = self._step_at + SLICE_S
        self._size = 1

    def size(self, most: int) -> int:
        """How much to do in the next step: as much as its time allows, as far as is known."""
        return min(self._size, most)

    async def keep(self) -> None:
        now = self._now_s()
        if now - self._step_at > SLICE_S:
            self._size = max(1, self._size // 2)
        elif now - self._step_at < SLICE_S / 4:
            self._size = min(2 * self._size, 1 << 20)
        if now > self._until:
            await asyncio.sleep(0)
            now = self._now_s()
            self._until = now + SLICE_S
        self._step_at = now
