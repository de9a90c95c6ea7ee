"""Ends the parts of a node one after another, and does not wait for ever for any of them.

Whatever hangs, the process ends: what did not is named in the log, and the directory is left as a
crash would leave it, so that the next start looks at everything again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from penstock.telemetry.log import get_logger

DRAIN_TIMEOUT_S = 5.0
STOP_TIMEOUT_S = 5.0
"""For each part after that: all that it waits for is on its way already."""
FLUSH_TIMEOUT_S = 30.0
"""A slow disk is no reason to recover everything at the next start."""

log = get_logger("node")


class Stopping:
    """`unended` names the parts that did not end in time, or failed to."""

    def __init__(self) -> None:
        self.unended: list[str] = []

    async def end(self, name: str, work: Coroutine[Any, Any, object], timeout_s: float) -> None:
        task = asyncio.create_task(work, name=f"stop-{name}")
        # Not `wait_for`: that waits for the task to take its cancellation, which may hang too.
        await asyncio.wait([task], timeout=timeout_s)
        if not task.done():
            task.cancel()
            self.unended.append(name)
            log.error("did not end in time, left behind", part=name, waited_s=timeout_s)
        elif task.exception() is not None:
            self.unended.append(name)
            log.error("failed to end", part=name, exc_info=task.exception())
