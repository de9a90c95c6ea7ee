"""What a node does on its own from time to time: retention, compaction, checkpoints, flushes.

A job that fails is tried again in its next round, and fails for the partition concerned alone. Only
a failed disk ends it, for the directory concerned.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from penstock.model.clock import Clock
from penstock.model.error import StorageError
from penstock.model.id import TopicPartition
from penstock.node.failures import UpkeepFailures
from penstock.node.metadata_plane import MetadataPlane
from penstock.node.repairs import Repairs
from penstock.node.scrubber import Scrubber
from penstock.replication.log_dir_moves import LogDirMoves
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
from penstock.storage.retention import apply_retention

if TYPE_CHECKING:
    from penstock.storage.compaction.cleaner import Cleaner, Runner
    from penstock.storage.compaction.config import CleanerSettings

Job = Callable[[], Awaitable[None]]

FLUSH_CHECK_S = 0.1
TRASH_CHECK_S = 1.0
TRASH_STEP_S = 0.5
SNAPSHOT_CHECK_S = 1.0
REPAIR_CHECK_S = 0.5
MOVE_STEP_S = 0.1
MOVE_CHECK_S = 0.5
SCRUB_STEP_S = 1.0
RESTART_S = 1.0
PARTITIONS_PER_STEP = 16
SETTINGS_CHECK_S = 1.0


class Upkeep:
    def __init__(
        self,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        log_dirs: LogDirs,
        partitions: PartitionSet,
        flush: Callable[[Log], None],
        metadata: MetadataPlane,
        repairs: Repairs,
        moves: LogDirMoves,
        run_compaction: Runner | None = None,
    ) -> None:
        """Where `run_compaction` is None, a child process compacts."""
        self._config = config
        self._clock = clock
        self._log_dirs = log_dirs
        self._partitions = partitions
        self._flush = flush
        self._metadata = metadata
        self._repairs = repairs
        self._moves = moves
        self._scrubber = Scrubber(
            partitions,
            clock,
            lambda: int(config().get("penstock.scrub.interval.ms")),
            repairs.note,
        )
        self._run_compaction = run_compaction
        self.failures = UpkeepFailures()
        self.rounds: Counter[str] = Counter()
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._stopped = False
        self._cleaners: dict[LogDir, Cleaner] = {}
        self._has_others = False

    def start(self) -> None:
        for name, job, interval_s in (
            ("retention", self._retain, lambda: self._ms("log.retention.check.interval.ms")),
            ("compaction", self._clean, lambda: self._ms("log.cleaner.backoff.ms")),
            ("checkpoint", self._checkpoint, self._checkpoint_interval_s),
            ("deletion", self._empty_trash, lambda: TRASH_CHECK_S),
            ("flush", self._flush_due, lambda: FLUSH_CHECK_S),
            (
                "producer expiry",
                self._expire_producers,
                lambda: self._ms("producer.id.expiration.check.interval.ms"),
            ),
            ("metadata", self._metadata.keep_up, lambda: SNAPSHOT_CHECK_S),
            ("repair", self._repairs.work, lambda: REPAIR_CHECK_S),
            (
                "directory moves",
                self._moves.work,
                lambda: MOVE_STEP_S if self._moves.count else MOVE_CHECK_S,
            ),
            ("scrub", self._scrubber.step, lambda: SCRUB_STEP_S),
            ("in-sync sets", self._shrink, lambda: self._ms("replica.lag.time.max.ms") / 2),
        ):
            self._begin(name, job, interval_s)

    def _begin(self, name: str, job: Job, interval_s: Callable[[], float]) -> None:
        if self._stopped:
            return
        task = asyncio.create_task(self._repeat(name, job, interval_s), name=f"upkeep-{name}")
        self._tasks[task] = None

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.pop(task, None)
            if not task.cancelled():
                error = task.exception() or RuntimeError("it returned")
                self.failures.note(name, "task", error)
                loop = asyncio.get_running_loop()
                loop.call_later(RESTART_S, self._begin, name, job, interval_s)

        task.add_done_callback(ended)

    async def stop(self) -> None:
        self._stopped = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ms(self, key: str) -> float:
        return int(self._config().get(key)) / 1000

    def _checkpoint_interval_s(self) -> float:
        """One step writes recovery points, log starts and high watermarks, as often as any of them
        asks for. Where all is led and nobody follows, watermarks are the ends of logs, and found
        again."""
        keys = ["log.flush.offset.checkpoint.interval.ms"]
        keys.append("log.flush.start.offset.checkpoint.interval.ms")
        if self._has_others:
            keys.append("replica.high.watermark.checkpoint.interval.ms")
        return min(map(self._ms, keys))

    async def _repeat(self, name: str, job: Job, interval_s: Callable[[], float]) -> None:
        while True:
            await _wait(interval_s)
            if not self._log_dirs.is_usable:
                continue
            try:
                await job()
            except StorageError as error:
                # The metadata log's: who works on a partition, or a directory, says so there.
                self._log_dirs.metadata.fail(error)
            except Exception as error:
                self.failures.note(name, "node", error)
            else:
                self.failures.passed(name, "node")
            self.rounds[name] += 1

    async def _each_partition(self, name: str, work: Callable[[Partition], None]) -> None:
        await self._each(name, list(self._partitions), work)

    async def _each(
        self, name: str, partitions: Iterable[Partition], work: Callable[[Partition], None]
    ) -> None:
        """In small steps, so that no request waits for a thousand logs."""
        for count, partition in enumerate(partitions, 1):
            self._attempt(name, partition, work)
            if count % PARTITIONS_PER_STEP == 0:
                await asyncio.sleep(0)

    def _attempt(self, name: str, partition: Partition, work: Callable[[Partition], None]) -> bool:
        """What is wrong with one partition is no concern of the others."""
        key = TopicPartition(partition.topic, partition.index)
        if partition.ended is not None or self._log_dirs.is_damaged(key):
            return False  # which was logged, and stays so until the next start
        try:
            work(partition)
        except StorageError as error:
            self._log_dirs.fail(key, error)
            return False
        except Exception as error:
            self.failures.note(name, str(key), error)
            return False
        self.failures.passed(name, str(key))
        return True

    async def _retain(self) -> None:
        await self._each_partition("retention", self._retain_one)

    def _retain_one(self, partition: Partition) -> None:
        now_ms = self._clock.now_ms()
        key = TopicPartition(partition.topic, partition.index)
        home = self._log_dirs.home(key)
        if partition.is_open or (home is not None and home.may_have_expired(key, now_ms)):
            apply_retention(partition.log, now_ms)

    async def _clean(self) -> None:
        """Compacts the dirtiest log of each directory, and the next, until none is dirty enough.
        What has expired of compacted logs goes then, as in Kafka: sooner than that of others."""
        if not self._config().get("log.cleaner.enable"):
            return
        for directory in self._log_dirs.online:
            cleaner = self._cleaners.get(directory)
            if cleaner is None:
                cleaner = self._cleaners[directory] = self._new_cleaner(directory)
            try:
                while await cleaner.clean_next() is not None:
                    pass
                await self._each("retention", self._compacted(directory), self._retain_one)
            except StorageError as error:
                directory.fail(error)

    def _new_cleaner(self, directory: LogDir) -> Cleaner:
        # Loaded here: a node that compacts nothing does not pay for it at start.
        from penstock.storage.compaction.cleaner import Cleaner
        from penstock.storage.compaction.process import run_in_child

        cleaner = Cleaner(
            directory.disk,
            directory.path,
            lambda: (partition.log for partition in self._compacted(directory)),
            self._clock,
            self._cleaner_settings,
            self._run_compaction or run_in_child,
        )
        cleaner.load(directory.partitions())
        return cleaner

    def _compacted(self, directory: LogDir) -> Iterator[Partition]:
        """Each with its log open."""
        for partition in list(self._partitions):
            if self._partitions.get(partition.topic, partition.index) is not partition:
                continue
            key = TopicPartition(partition.topic, partition.index)
            if key not in directory:
                continue
            compacted = "compact" in directory.config_of(key).cleanup_policy
            if compacted and self._attempt("compaction", partition, _open):
                yield partition

    def _cleaner_settings(self) -> CleanerSettings:
        from penstock.storage.compaction.config import KEY_MAP_BYTES, CleanerSettings

        config = self._config()
        is_set = config.is_set("log.cleaner.dedupe.buffer.size")
        return CleanerSettings(
            int(config.get("log.cleaner.dedupe.buffer.size")) if is_set else KEY_MAP_BYTES,
            float(config.get("log.cleaner.io.max.bytes.per.second")),
        )

    async def _shrink(self) -> None:
        """Leaves out of the in-sync sets who has fallen behind."""
        await self._each_partition("in-sync sets", Partition.shrink_isr)

    async def _checkpoint(self) -> None:
        self._has_others = any(one.leader is not None or not one.is_led for one in self._partitions)
        self._log_dirs.checkpoint()

    async def _empty_trash(self) -> None:
        """In a thread, until nothing is due: freeing a large file takes its time."""
        for directory in self._log_dirs.online:
            try:
                while directory.trash.is_due(self._clock.now_ms()):
                    await asyncio.to_thread(directory.empty_trash, TRASH_STEP_S)
            except StorageError as error:
                directory.fail(error)

    async def _flush_due(self) -> None:
        for directory in self._log_dirs.online:
            for due in directory.flush_due(self._clock.now_ms()):
                directory.dirty.pop(due, None)
                self._flush(due)

    async def _expire_producers(self) -> None:
        expiration_ms = self._config().producer_expiration_ms

        def expire(partition: Partition) -> None:
            if partition.is_open:
                partition.log.producers.expire(self._clock.now_ms(), expiration_ms)

        await self._each_partition("producer expiry", expire)


def _open(partition: Partition) -> None:
    _ = partition.log


async def _wait(interval_s: Callable[[], float]) -> None:
    """A setting decides how long, and may change meanwhile: it is looked at again and again."""
    waited_s = 0.0
    while (left_s := max(0.01, interval_s()) - waited_s) > 0:
        step_s = min(left_s, SETTINGS_CHECK_S)
        await asyncio.sleep(step_s)
        waited_s += step_s
