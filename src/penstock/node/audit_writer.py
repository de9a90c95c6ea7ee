"""Writes the audit log every second, and the sums at the end of each interval.

A sink that fails or is slow keeps its lines in a backlog and is tried again; nobody else waits for
it. A node that is killed loses the interval under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from penstock.audit.backlog import Backlog
from penstock.audit.trail import Trail
from penstock.model.clock import Clock
from penstock.node.audit_sink import Sink
from penstock.node.topic_writer import UnwrittenError
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger

WRITE_S = 1.0
BATCH_BYTES = 512 * 1024
CLOSE_S = 3.0

log = get_logger("audit")


class AuditWriter:
    def __init__(
        self,
        trail: Trail,
        sinks: Sequence[Sink],
        clock: Clock,
        config: Callable[[], BrokerConfig],
    ) -> None:
        self._trail = trail
        self._clock = clock
        self._config = config
        self._summed_at = clock.monotonic()
        self._channels = [_Channel(sink) for sink in sinks]
        self._task: asyncio.Task[None] | None = None

    @property
    def lost(self) -> int:
        return self._trail.lost + sum(each.backlog.lost for each in self._channels)

    @property
    def waiting(self) -> int:
        return sum(len(each.backlog) for each in self._channels)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Writes what there is, if that does not take long."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._trail.sum_up(self._clock.now_ms())
        self._pass_on()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await asyncio.gather(*(each.finish() for each in self._channels))

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(WRITE_S)
            self._tick()

    def _tick(self) -> None:
        now_s = self._clock.monotonic()
        if now_s - self._summed_at >= int(self._config().get("penstock.audit.interval.ms")) / 1000:
            self._summed_at = now_s
            self._trail.sum_up(self._clock.now_ms())
        self._pass_on()
        for each in self._channels:
            each.begin()

    def _pass_on(self) -> None:
        lines = self._trail.take()
        for each in self._channels:
            each.backlog.put_all(lines)


class _Channel:
    """One sink: at most one write of it is under way."""

    def __init__(self, sink: Sink) -> None:
        self.backlog = Backlog()
        self._sink = sink
        self._writing: asyncio.Task[None] | None = None
        self._is_failing = False
        self._told_lost = 0

    def begin(self) -> None:
        if self.backlog and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write())

    async def finish(self) -> None:
        if self._writing is not None:
            await self._writing
        await self._write()

    async def _write(self) -> None:
        while lines := self.backlog.peek(BATCH_BYTES):
            try:
                await self._sink.write(lines)
            except UnwrittenError as error:
                self._tell_failing(error)
                return
            self.backlog.drop(len(lines))
            self._tell_well()

    def _tell_failing(self, error: UnwrittenError) -> None:
        if not self._is_failing:
            self._is_failing = True
            log.warning("audit log waits to be written", sink=self._sink.name, reason=str(error))

    def _tell_well(self) -> None:
        if self._is_failing:
            self._is_failing = False
            log.info("audit log is written again", sink=self._sink.name)
        if self.backlog.lost > self._told_lost:
            log.warning(
                "lines of the audit log were lost, too many waited",
                sink=self._sink.name,
                lines=self.backlog.lost - self._told_lost,
            )
            self._told_lost = self.backlog.lost
