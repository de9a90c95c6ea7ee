"""A thread that plain functions run in, one at a time. One that hangs is left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

_Answer = asyncio.Future[tuple[Any, BaseException | None]]
_Item = tuple[_Answer, Callable[..., Any], tuple[Any, ...]]


class CallThread:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._items: SimpleQueue[_Item | None] = SimpleQueue()
        # As a daemon: a function that hangs must not keep the process from ending.
        threading.Thread(target=self._run, name="penstock-handler", daemon=True).start()

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        answer: _Answer = self._loop.create_future()
        self._items.put((answer, function, arguments))
        result, error = await answer
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """End after what runs now."""
        self._items.put(None)

    def _run(self) -> None:
        while (item := self._items.get()) is not None:
            answer, function, arguments = item
            result, error = None, None
            try:
                result = function(*arguments)
            except BaseException as raised:
                error = raised
            try:
                self._loop.call_soon_threadsafe(_settle, answer, result, error)
            except RuntimeError:
                # The loop has ended: nobody waits any more.
                return


def _settle(answer: _Answer, result: Any, error: BaseException | None) -> None:
    if not answer.done():
        answer.set_result((result, error))
