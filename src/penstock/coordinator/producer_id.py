"""Hands out producer ids from blocks that the controller has made durable.

A block is lost with the process that held it; no id is ever handed out twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

AllocateBlock = Callable[[], Awaitable[range]]


class ProducerIds:
    __slots__ = ("_allocate", "_lock", "_next", "_stop")

    def __init__(self, allocate: AllocateBlock) -> None:
        self._allocate = allocate
        self._next = 0
        self._stop = 0
        self._lock = asyncio.Lock()

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
        """Until `take` would give an id."""
        async with self._lock:
            if self._next == self._stop:
                block = await self._allocate()
                self._next, self._stop = block.start, block.stop
