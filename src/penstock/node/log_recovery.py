"""After a crash, before anybody is let in: logs are cut to what is whole."""

from __future__ import annotations

import asyncio

from penstock.storage.log_dirs import LogDirs
from penstock.telemetry.log import get_logger

REPORT_EVERY = 1000

log = get_logger("node")


async def recover(log_dirs: LogDirs) -> None:
    if log_dirs.was_clean:
        return

    def report(done: int, total: int) -> None:
        if done == total or done % REPORT_EVERY == 0:
            log.info("logs recovered", done=done, total=total)

    await asyncio.to_thread(log_dirs.recover, report)
