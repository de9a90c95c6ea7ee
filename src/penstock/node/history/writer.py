"""Writes what the node did at the end of each interval, and the sum at the end of each hour.

What cannot be written waits, up to a bound, and is written with the next; no client waits for it. A
node that is killed loses the interval under way, and the sum of its hour, which readers make of the
intervals.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from penstock.coordinator.topic import MIN_ISR, CoordinatorTopic
from penstock.handlers.broker import Broker
from penstock.model.figures import (
    HOURS,
    MINUTES,
    Figures,
    add_figures,
    encode_figures,
    top_groups,
)
from penstock.model.internal_topic import METRICS_TOPIC
from penstock.node.history.count import BrokerCount
from penstock.node.history.group_count import GroupCount
from penstock.node.lag.look import GroupLook
from penstock.node.topic_writer import Brokers, TopicWriter, UnwrittenError
from penstock.records.compression import ZSTD
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger

WAITING_MAX: Final = 120
"""Records of each partition that wait to be written; older ones are lost."""
CLOSE_S: Final = 3.0
SEGMENT_BYTES: Final = 16 * 1024 * 1024
SEGMENT_MS: Final = 86_400_000

log = get_logger("figures")


class HistoryWriter:
    def __init__(self, broker: Broker, brokers: Brokers, groups: GroupLook) -> None:
        self._broker = broker
        self._groups = groups
        self._count = BrokerCount(broker)
        self._group_count = GroupCount()
        self._hour: Figures | None = None
        self._waiting: dict[int, deque[bytes]] = {
            each: deque(maxlen=WAITING_MAX) for each in (MINUTES, HOURS)
        }
        self._writer = TopicWriter(
            METRICS_TOPIC, lambda: metrics_topic(broker.config), broker, brokers, ZSTD
        )
        self._key = str(broker.node_id).encode()
        self._task: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._is_failing = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        """At once; what waits is lost."""
        self._count.close()
        for each in (self._task, self._writing):
            if each is not None:
                each.cancel()

    async def close(self) -> None:
        """Writes what there is, if that does not take long."""
        if self._task is not None:
            self._task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._take()
                self._end_hour()
                if self._writing is not None:
                    await asyncio.wait((self._writing,))
                await self._write()
        self.stop()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._pause_s())
            await _attempt(self._take())
            if self._writing is None or self._writing.done():
                self._writing = asyncio.create_task(_attempt(self._write()))

    def _pause_s(self) -> float:
        """Until the clock shows a multiple of the interval: those of all brokers are the same."""
        interval_ms = int(self._broker.config.get("penstock.metrics.topic.interval.ms"))
        return (interval_ms - self._broker.clock.now_ms() % interval_ms) / 1000

    async def _take(self) -> None:
        rows = await self._groups.rows()
        figures = self._count.take()
        groups = self._group_count.take(rows, figures.until_ms)
        figures = replace(figures, groups=top_groups(groups))
        self._waiting[MINUTES].append(encode_figures(figures))
        if self._hour is not None and self._hour.hour_ms != figures.hour_ms:
            self._end_hour()
        self._hour = figures if self._hour is None else add_figures(self._hour, figures)

    def _end_hour(self) -> None:
        if self._hour is not None:
            self._waiting[HOURS].append(encode_figures(self._hour))
            self._hour = None

    async def _write(self) -> None:
        for partition, waiting in self._waiting.items():
            values = list(waiting)
            if not values:
                continue
            try:
                await self._writer.write(values, partition, self._key)
            except UnwrittenError as error:
                self._tell_failing(error)
                return
            # Some of them may have had to make room meanwhile.
            while waiting and values and waiting[0] in values:
                values.remove(waiting.popleft())
        if self._is_failing:
            self._is_failing = False
            log.info("figures are written again")

    def _tell_failing(self, error: UnwrittenError) -> None:
        if not self._is_failing:
            self._is_failing = True
            log.warning("figures wait to be written", reason=str(error))


async def _attempt(work: Coroutine[Any, Any, None]) -> None:
    """What goes wrong with one interval leaves the next alone."""
    try:
        await work
    except Exception:
        log.exception("figures of an interval could not be made")


def metrics_topic(config: BrokerConfig) -> CoordinatorTopic:
    return CoordinatorTopic(
        METRICS_TOPIC,
        2,
        int(config.get("penstock.metrics.topic.replication.factor")),
        {
            "cleanup.policy": "delete",
            "retention.ms": str(config.get("penstock.metrics.topic.retention.ms")),
            "retention.bytes": str(config.get("penstock.metrics.topic.retention.bytes")),
            "segment.bytes": str(SEGMENT_BYTES),
            "segment.ms": str(SEGMENT_MS),
            MIN_ISR: "1",
        },
    )
