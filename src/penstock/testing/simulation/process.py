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
        self.held: list[asyncio.Handle] | None = None
        """What is to run once it goes on, while it is paused."""
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
        """Nothing that it still does is seen from outside, and what waits in it never goes on."""
        self.alive = False
        self.held = None
        for task in self._tasks:
            # Both kinds of task have it; nobody is to be told of what was meant to happen.
            task._log_destroy_pending = False  # type: ignore[attr-defined]

    def bury(self) -> None:
        """Closes its coroutines at a time that is the same in every run, and not when the garbage
        collector finds them: that runs what they have in `finally`. Not to be called out of the
        midst of the process, where locks may be held."""
        assert not self.alive
        tasks, self._tasks = self._tasks, {}
        self._context.copy().run(_close_all, [task for task in tasks if not task.done()])


def _close_all(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        coroutine = task.get_coro()
        assert coroutine is not None
        with suppress(BaseException):
            coroutine.close()


CURRENT: ContextVar[Process | None] = ContextVar("process", default=None)


def process_of(context: Context | None) -> Process | None:
    return None if context is None else context.get(CURRENT)
