"""Syncs the metadata log as long as something in it is not synced.

Owns the one task that does so: what is appended during one flush shares the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from penstock.quorum.metadata_log import MetadataLog


class Flushing:
    """`on_flushed` hears of every flush, `on_failure` of the last: nothing is synced behind it."""

    def __init__(
        self,
        log: MetadataLog,
        on_flushed: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        self._log = log
        self._on_flushed = on_flushed
        self._on_failure = on_failure
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        if self._task is None and self._is_needed:
            self._task = asyncio.create_task(self._flush(), name="metadata-sync")

    @property
    def _is_needed(self) -> bool:
        return self._log.flushed_offset < self._log.end_offset

    async def _flush(self) -> None:
        try:
            while self._is_needed:
                await self._log.wait_flushed()
                self._on_flushed()
        except Exception as error:
            self._on_failure(error)
        finally:
            self._task = None

    async def close(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])
