"""What a node does on its own from time to time: retention, compaction, checkpoints, flushes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from penstock.model.clock import Clock
from penstock.model.error import ApiError, StorageError
from penstock.model.id import TopicPartition
from penstock.node.metadata_plane import MetadataPlane
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.storage.flusher import Flusher
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.retention import apply_retention
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.storage.cleaner import Cleaner
    from penstock.storage.compaction_config import CleanerSettings

log = get_logger("upkeep")

FLUSH_CHECK_S = 0.1
TRASH_CHECK_S = 1.0
SNAPSHOT_CHECK_S = 1.0
PARTITIONS_PER_STEP = 16
SETTINGS_CHECK_S = 1.0


class Upkeep:
    def __init__(
        self,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        log_dir: LogDir,
        partitions: PartitionSet,
        flusher: Flusher,
        metadata: MetadataPlane,
    ) -> None:
        self._config = config
        self._clock = clock
        self._log_dir = log_dir
        self._partitions = partitions
        self._flusher = flusher
        self._metadata = metadata
        self._tasks: list[asyncio.Task[None]] = []
        self._cleaner: Cleaner | None = None

    def start(self) -> None:
        for job, interval_s in (
            (self._retain, lambda: self._ms("log.retention.check.interval.ms")),
            (self._clean, lambda: self._ms("log.cleaner.backoff.ms")),
            (self._checkpoint, self._checkpoint_interval_s),
            (self._empty_trash, lambda: TRASH_CHECK_S),
            (self._flush_due, lambda: FLUSH_CHECK_S),
            (self._expire_producers, lambda: self._ms("producer.id.expiration.check.interval.ms")),
            (self._metadata.snapshot_if_due, lambda: SNAPSHOT_CHECK_S),
        ):
            self._tasks.append(asyncio.create_task(self._repeat(job, interval_s)))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ms(self, key: str) -> float:
        return int(self._config().get(key)) / 1000

    def _checkpoint_interval_s(self) -> float:
        """One step writes recovery points and log starts, as often as either asks for."""
        return min(
            self._ms("log.flush.offset.checkpoint.interval.ms"),
            self._ms("log.flush.start.offset.checkpoint.interval.ms"),
        )

    async def _repeat(
        self, job: Callable[[], Awaitable[None]], interval_s: Callable[[], float]
    ) -> None:
        while True:
            await _wait(interval_s)
            if self._log_dir.offline is not None:
                continue
            try:
                await job()
            except StorageError as error:
                self._log_dir.fail(error)
            except (ApiError, OSError) as error:
                log.warning("upkeep put off", job=job.__name__, error=str(error))

    async def _retain(self) -> None:
        """In small steps, so that no request waits for a thousand logs."""
        for count, partition in enumerate(list(self._partitions), 1):
            if partition.is_open or self._log_dir.may_have_expired(
                TopicPartition(partition.topic, partition.index), self._clock.now_ms()
            ):
                apply_retention(partition.log, self._clock.now_ms())
            if count % PARTITIONS_PER_STEP == 0:
                await asyncio.sleep(0)

    async def _clean(self) -> None:
        """Compacts the dirtiest log, and the next, until none is dirty enough."""
        if not self._config().get("log.cleaner.enable"):
            return
        if self._cleaner is None:
            # Loaded here: a node that compacts nothing does not pay for it at start.
            from penstock.storage.cleaner import Cleaner

            self._cleaner = Cleaner(
                self._log_dir.disk,
                self._log_dir.path,
                self._compacted_logs,
                self._clock,
                self._cleaner_settings,
            )
            self._cleaner.load(self._log_dir.partitions())
        while await self._cleaner.clean_next() is not None:
            pass

    def _compacted_logs(self) -> Iterator[Log]:
        for partition in list(self._partitions):
            if self._partitions.get(partition.topic, partition.index) is not partition:
                continue
            key = TopicPartition(partition.topic, partition.index)
            if key in self._log_dir and "compact" in self._log_dir.config_of(key).cleanup_policy:
                yield partition.log

    def _cleaner_settings(self) -> CleanerSettings:
        from penstock.storage.compaction_config import KEY_MAP_BYTES, CleanerSettings

        config = self._config()
        is_set = config.is_set("log.cleaner.dedupe.buffer.size")
        return CleanerSettings(
            int(config.get("log.cleaner.dedupe.buffer.size")) if is_set else KEY_MAP_BYTES,
            float(config.get("log.cleaner.io.max.bytes.per.second")),
        )

    async def _checkpoint(self) -> None:
        self._log_dir.checkpoint()

    async def _empty_trash(self) -> None:
        self._log_dir.empty_trash()

    async def _flush_due(self) -> None:
        for due in self._log_dir.flush_due(self._clock.now_ms()):
            self._log_dir.dirty.pop(due, None)
            self._flusher.request(due)

    async def _expire_producers(self) -> None:
        expiration_ms = self._config().producer_expiration_ms
        for count, partition in enumerate(list(self._partitions), 1):
            if partition.is_open:
                partition.log.producers.expire(self._clock.now_ms(), expiration_ms)
            if count % PARTITIONS_PER_STEP == 0:
                await asyncio.sleep(0)


async def _wait(interval_s: Callable[[], float]) -> None:
    """A setting decides how long, and may change meanwhile: it is looked at again and again."""
    waited_s = 0.0
    while (left_s := max(0.01, interval_s()) - waited_s) > 0:
        step_s = min(left_s, SETTINGS_CHECK_S)
        await asyncio.sleep(step_s)
        waited_s += step_s
