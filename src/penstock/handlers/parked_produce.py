"""Produces that cannot be done at once, and those behind them on the same connection.

A produce parks while its coordinator is asked, or while a thread checks a batch that would hold up
the loop. Sequence numbers have to arrive in order, so whatever the connection produces meanwhile
waits for its turn. Owns the order, the bytes and the thread; never what is appended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Any, Final, TypeVar

from penstock.handlers.call import ClientState
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.produce import PartitionProduceData
from penstock.storage.append_check import BatchCheck

T = TypeVar("T")
Answered = Callable[[], Coroutine[Any, Any, T]]

_SLICE_COST: Final = 2_000_000
"""Of a batch's check in the thread, about 10 ms, before it is another batch's turn."""
_PIECE_COST: Final = 50_000


class ParkedProduces:
    """Of one broker: how many bytes wait, and the one thread that checks them, in turns."""

    __slots__ = ("_bytes", "_bytes_max", "_tasks", "_thread")

    def __init__(self, bytes_max: int) -> None:
        self._bytes = 0
        self._bytes_max = bytes_max
        self._thread: ThreadPoolExecutor | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def park(
        self,
        client: ClientState,
        batches: Iterable[PartitionProduceData],
        produce: Callable[[], Coroutine[Any, Any, Answered[T]]],
        *,
        unanswered: bool,
    ) -> Coroutine[Any, Any, T]:
        """`produce` runs when everything that this client parked before is done. What it returns is
        called to wait for the answer, and the next one does not wait for that.

        Counted at once, so that the client's next request sees it. The frame's buffer serves that
        request, so what is parked is copied. Where nobody waits for an answer, a connection that
        closes does not take back what it has sent.
        """
        kept = [data for data in batches if data.records is not None]
        size = sum(len(data.records or b"") for data in kept)
        if self._bytes and self._bytes + size > self._bytes_max:
            # A code that every producer takes for "try again in a moment".
            raise ApiError(
                ErrorCode.NOT_ENOUGH_REPLICAS, f"{self._bytes} bytes already wait to be checked"
            )
        for data in kept:
            data.records = memoryview(bytearray(data.records or b""))
        self._bytes += size
        client.parked_produces += 1
        task = asyncio.get_running_loop().create_task(_produce_in_turn(client, produce))
        self._tasks.add(task)
        # Not in the task itself: one that is cancelled before it has begun never gets there.
        task.add_done_callback(lambda _: self._release(client, size))
        task.add_done_callback(self._tasks.discard)
        return _wait(task, unanswered)

    def _release(self, client: ClientState, size: int) -> None:
        client.parked_produces -= 1
        self._bytes -= size

    async def check(self, check: BatchCheck) -> None:
        """ApiError for a batch that may not be written."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "record-check")
        loop = asyncio.get_running_loop()
        while not await loop.run_in_executor(self._thread, _advance, check):
            pass

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)


async def _produce_in_turn(
    client: ClientState, produce: Callable[[], Coroutine[Any, Any, Answered[T]]]
) -> Answered[T]:
    if client.produce_gate is None:
        client.produce_gate = asyncio.Lock()
    # First come, first served.
    async with client.produce_gate:
        return await produce()


async def _wait(task: asyncio.Task[Answered[T]], unanswered: bool) -> T:
    answered = await (asyncio.shield(task) if unanswered else task)
    return await answered()


def _advance(check: BatchCheck) -> bool:
    for _ in range(_SLICE_COST // _PIECE_COST):
        if check.advance(_PIECE_COST):
            return True
        # The event loop runs in another thread and needs the interpreter.
        sleep(0)
    return False
