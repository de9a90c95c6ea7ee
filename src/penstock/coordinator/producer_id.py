"""Hands out producer ids from blocks that the controller has made durable.

A block is lost with the process that held it; no id is ever handed out twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

AllocateBlock = Callable[[], Awaitable[range]]


class ProducerIds:
    __slots__ = ("_allocate", "_allocation", "_next", "_stop")

    def __init__(self, allocate: AllocateBlock) -> None:
        self._allocate = allocate
        self._next = 0
        self._stop = 0
        self._allocation: asyncio.Task[None] | None = None

    def take(self) -> int | None:
        if self._next == self._stop:
            return None
        producer_id = self._next
        self._next += 1
        return producer_id

    @property
    def is_available(self) -> bool:
        return self._next != self._stop

    async def wait_take(self) -> int:
        while True:
            producer_id = self.take()
            if producer_id is not None:
                return producer_id
            await self.wait_available()

    async def wait_available(self) -> None:
        """Until `take` would give an id. Who stops waiting leaves the others what was asked for."""
        if self.is_available:
            return
        if self._allocation is None:
            self._allocation = asyncio.create_task(self._take_block(), name="producer-ids")
            self._allocation.add_done_callback(self._forget)
        await asyncio.shield(self._allocation)

    async def _take_block(self) -> None:
        block = await self._allocate()
        self._next, self._stop = block.start, block.stop

    def _forget(self, done: asyncio.Task[None]) -> None:
        self._allocation = None
        if not done.cancelled():
            done.exception()  # there may be nobody who waits
