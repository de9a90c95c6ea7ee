"""A worker of a consumer, and the record in its hands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from penstock.client.app.call_thread import CallThread
from penstock.client.app.part import Work

TIME_OUT: Final = "it took too long"
TAKEN_AWAY: Final = "its partition was taken away"


class Slot:
    __slots__ = ("_thread", "is_handling", "message", "since", "task", "why", "work")

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.work: Work | None = None
        self.message: Any = None
        """What it was last given on the quick way, where no work is made of it."""
        self.since = 0.0
        """When the handler was called, by `time.perf_counter`."""
        self.is_handling = True
        """While it has a record: whether the handler has it, and may be cancelled."""
        self.why: str | None = None
        """Why the handler is cancelled."""
        self._thread: CallThread | None = None

    def cancel(self, why: str) -> None:
        if self.task is not None and self.why is None:
            self.why = why
            self.task.cancel()

    def cancelled(self) -> str | None:
        """Why; None if nobody here did it. The task goes on after this."""
        why, self.why = self.why, None
        if why is not None and self.task is not None:
            self.task.uncancel()
        return why

    async def call_in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._thread is None:
            self._thread = CallThread(asyncio.get_running_loop())
        try:
            return await self._thread.call(function, *arguments)
        except asyncio.CancelledError:
            # Nobody can stop a thread: this one ends when its function does.
            self.close()
            raise

    def close(self) -> None:
        if self._thread is not None:
            self._thread.close()
            self._thread = None
