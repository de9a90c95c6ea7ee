"""Work that nobody waits for. What fails of it is logged."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from penstock.telemetry.log import get_logger

log = get_logger("node")


class Background:
    def __init__(self) -> None:
        # In the order in which they began, which is that in which they are ended.
        self._tasks: dict[asyncio.Task[Any], None] = {}

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._on_done)

    def cancel(self) -> None:
        for task in list(self._tasks):
            task.cancel()

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and task.exception() is not None:
            log.error("background work failed", exc_info=task.exception())
