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
        produce: Callable[[], Coroutine[Any, Any, Coroutine[Any, Any, T]]],
        *,
        unanswered: bool,
    ) -> Coroutine[Any, Any, T]:
        """`produce` runs when everything that this client parked before is done; for what it
        returns to wait for, the next one does not wait.

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
        parked = self._produce_in_turn(client, size, produce)
        return self._shield(parked) if unanswered else parked

    async def _produce_in_turn(
        self,
        client: ClientState,
        size: int,
        produce: Callable[[], Coroutine[Any, Any, Coroutine[Any, Any, T]]],
    ) -> T:
        if client.produce_gate is None:
            client.produce_gate = asyncio.Lock()
        try:
            # First come, first served.
            async with client.produce_gate:
                answered = await produce()
        finally:
            client.parked_produces -= 1
            self._bytes -= size
        return await answered

    async def _shield(self, parked: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(parked)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

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


def _advance(check: BatchCheck) -> bool:
    for _ in range(_SLICE_COST // _PIECE_COST):
        if check.advance(_PIECE_COST):
            return True
        # The event loop runs in another thread and needs the interpreter.
        sleep(0)
    return False
