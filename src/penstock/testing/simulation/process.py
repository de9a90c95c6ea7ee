"""A process of the simulation: whatever was begun in it ends with it, in the middle of its work.

Everything that runs on the virtual loop carries the process it belongs to in its context, and so do
the callbacks and tasks it makes. Of a process that was killed nothing runs any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")
Handler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]

_PRUNE_TASKS = 64


class ProcessKilled(BaseException):
    """Ends whatever a process is doing when it is killed in the middle of it."""


class Process:
    """`number` tells the lives of one host apart."""

    def __init__(self, host: str, number: int = 0) -> None:
        self.host = host
        self.number = number
        self.alive = True
        self.exception_handler: Handler | None = None
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._prune_at = _PRUNE_TASKS
        self._context = copy_context()
        self._context.run(CURRENT.set, self)

    def __repr__(self) -> str:
        return f"{self.host}#{self.number}"

    def run(self, work: Callable[..., T], *args: Any) -> T:
        """In the name of this process."""
        return self._context.copy().run(work, *args)

    def adopt(self, task: asyncio.Task[Any]) -> None:
        self._tasks[task] = None
        if len(self._tasks) >= self._prune_at:
            self._tasks = {one: None for one in self._tasks if not one.done()}
            self._prune_at = max(_PRUNE_TASKS, 2 * len(self._tasks))

    def kill(self) -> None:
        """To be called when nothing that it does can be seen from outside any more: closing a
        coroutine runs what it has in `finally`, which a real kill would not."""
        self.alive = False
        tasks, self._tasks = self._tasks, {}
        for task in tasks:
            if task.done():
                continue
            # Both kinds of task have it; nobody is to be told of what was meant to happen.
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            coroutine = task.get_coro()
            with suppress(BaseException):
                coroutine.close()


CURRENT: ContextVar[Process | None] = ContextVar("process", default=None)


def process_of(context: Context | None) -> Process | None:
    return None if context is None else context.get(CURRENT)
