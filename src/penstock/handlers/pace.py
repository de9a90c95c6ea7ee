"""Long work on the event loop, done so that others have their turn in between."""

from __future__ import annotations

import asyncio
from time import perf_counter

SLICE_S = 0.005
"""For how long one request over many elements is worked on at a stretch."""


class Pace:
    """To be kept through one piece of work; `keep` is awaited at every place where it may rest."""

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = perf_counter() + SLICE_S

    async def keep(self) -> None:
        if perf_counter() > self._until:
            await asyncio.sleep(0)
            self._until = perf_counter() + SLICE_S
