"""What is to be sent to other brokers: one request under way to each, and what comes meanwhile goes
together with the next.

Owns the queues and the tasks that empty them. What a request looks like is its owner's to say.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from penstock.coordinator.brokers import NoAnswer

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

BATCH_MAX = 1000

Send = Callable[[int, list[ItemT]], Awaitable[list[ResultT]]]
"""(node, items) to the results of each."""


class Outbox(Generic[ItemT, ResultT]):
    """`key` names an item in an answer: no two of one name go in one request."""

    def __init__(self, send: Send[ItemT, ResultT], key: Callable[[ItemT], Hashable]) -> None:
        self._send = send
        self._key = key
        self._queues: dict[int, deque[tuple[ItemT, asyncio.Future[ResultT]]]] = {}
        self._senders: dict[int, asyncio.Task[None]] = {}

    def put(self, node_id: int, item: ItemT) -> asyncio.Future[ResultT]:
        """Whoever stops waiting before it is sent takes it back."""
        future: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(node_id, deque()).append((item, future))
        if node_id not in self._senders:
            task = asyncio.create_task(self._empty(node_id), name=f"send to node {node_id}")
            self._senders[node_id] = task
        return future

    async def close(self) -> None:
        for task in self._senders.values():
            task.cancel()
        await asyncio.gather(*self._senders.values(), return_exceptions=True)

    async def _empty(self, node_id: int) -> None:
        queue = self._queues[node_id]
        try:
            while queue:
                await self._send_some(node_id, self._take(queue))
        finally:
            del self._queues[node_id], self._senders[node_id]
            _fail(queue, NoAnswer(f"node {node_id}: stopped"))

    def _take(
        self, queue: deque[tuple[ItemT, asyncio.Future[ResultT]]]
    ) -> list[tuple[ItemT, asyncio.Future[ResultT]]]:
        taken: dict[Hashable, tuple[ItemT, asyncio.Future[ResultT]]] = {}
        for _ in range(len(queue)):
            item, future = entry = queue.popleft()
            if future.done():
                continue
            name = self._key(item)
            if name in taken or len(taken) == BATCH_MAX:
                queue.append(entry)
            else:
                taken[name] = entry
        return list(taken.values())

    async def _send_some(
        self, node_id: int, entries: list[tuple[ItemT, asyncio.Future[ResultT]]]
    ) -> None:
        if not entries:
            return
        try:
            results = await self._send(node_id, [item for item, _ in entries])
        except asyncio.CancelledError:
            _fail(entries, NoAnswer(f"node {node_id}: stopped"))
            raise
        except Exception as error:
            _fail(entries, error)
            return
        for (_, future), result in zip(entries, results, strict=True):
            if not future.done():
                future.set_result(result)


def _fail(
    entries: list[tuple[ItemT, asyncio.Future[ResultT]]]
    | deque[tuple[ItemT, asyncio.Future[ResultT]]],
    error: Exception,
) -> None:
    for _, future in entries:
        if not future.done():
            future.set_exception(error)
            future.exception()  # there may be nobody who waits
