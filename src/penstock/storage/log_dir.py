"""A data directory: its lock, its checkpoints, and the logs in it.

Logs open when first touched; after a crash all are recovered at the start instead. Owns what is
remembered between two starts. A failing disk takes the directory offline as a whole: from then
on nothing in it is served, and nothing written. A damaged log goes offline alone.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, InvariantError, StorageError
from penstock.model.id import TopicId, TopicPartition
from penstock.storage import names
from penstock.storage.checkpoint.clean_shutdown import note_clean, take_clean
from penstock.storage.checkpoint.file import read_topic_id, write_topic_id
from penstock.storage.checkpoint.high_watermark import restore_high_watermark
from penstock.storage.checkpoint.offset import OffsetCheckpoints
from penstock.storage.closing import close_logs
from penstock.storage.config import LogConfig
from penstock.storage.damage import DamagedFile, DamagedLog, is_of_one_file, put_aside
from penstock.storage.dir_lock import DirectoryLock
from penstock.storage.disk import Disk, FileStat, RealDisk, make_directory
from penstock.storage.failure import failure_of, is_full, shortage
from penstock.storage.file_cache import FileCache
from penstock.storage.log import Log
from penstock.storage.recovery.loader import open_log
from penstock.storage.recovery.loss import Losses
from penstock.storage.trash import Trash, remove_file
from penstock.storage.trim import delete_log

_logger = logging.getLogger(__name__)

ConfigOf = Callable[[TopicPartition], LogConfig]
Progress = Callable[[int, int], None]
"""(logs recovered, logs to recover)."""
RECOVERED_AT_ONCE = 32
"""By one thread: handing over each log by itself would cost as much as opening it."""
NewPool = Callable[[int, str], Executor]
"""Threads, so many and of that name, for work that waits for the disk."""


class LogDir:
    def __init__(
        self,
        path: str,
        clock: Clock,
        config_of: ConfigOf,
        *,
        disk: Disk | None = None,
        cache: FileCache | None = None,
        new_pool: NewPool = ThreadPoolExecutor,
        new_unique: Callable[[], bytes] = lambda: os.urandom(16),
    ) -> None:
        self.path = path.rstrip("/")
        self.clock = clock
        self.config_of = config_of
        self.disk: Disk = disk or RealDisk()
        self.cache = cache or FileCache(self.disk)
        self._new_pool = new_pool
        self._new_unique = new_unique
        self.trash = Trash(self.disk)
        self.logs: dict[TopicPartition, Log] = {}
        self.futures: dict[TopicPartition, Log] = {}
        """Copies of logs that are on their way into this directory."""
        self.found_futures: list[tuple[TopicPartition, str]] = []
        """Copies that an earlier life of the node has left, and their directories."""
        self.dirty: dict[Log, None] = {}
        self.offline: StorageError | None = None
        self.on_offline: Callable[[StorageError], None] | None = None
        self.was_clean = False
        self.last_broker_epoch = -1
        """Of the life that ended orderly; -1 after a crash."""
        self.losses = Losses()
        self.damaged: dict[TopicPartition, str] = {}
        self._noted: set[str] = set()
        self._unclosed = False
        self._lock: DirectoryLock | None = None
        self._known: set[TopicPartition] = set()
        self._checkpoints = OffsetCheckpoints(self.disk, self.path)

    # --- start and stop -------------------------------------------------------------------

    def lock(self) -> None:
        """Make sure that it is there, can be written to, and is nobody else's."""
        try:
            make_directory(self.disk, self.path)
            if isinstance(self.disk, RealDisk) and self._lock is None:
                self._lock = DirectoryLock(self.path)
        except OSError as error:
            raise _unusable(self.path, error) from error

    def open(self) -> None:
        """Lock the directory and look through it; recovers nothing yet."""
        self.lock()
        try:
            self._scan()
            self._checkpoints.load(self._known | {moved for moved, _ in self.found_futures})
            # Gone before anything can change: a crash from here on must not look like a stop.
            epoch = take_clean(self.disk, self.path)
            self.was_clean = epoch is not None
            self.last_broker_epoch = -1 if epoch is None else epoch
        except OSError as error:
            raise _unusable(self.path, error) from error

    def recover(self, progress: Progress | None = None, threads: int = 2) -> int:
        """After a crash, open every log and repair it; how many there were."""
        if self.was_clean:
            return 0
        partitions = sorted(self._known - self.logs.keys())
        done = 0
        with self._new_pool(max(threads, 1), "recovery") as pool:
            for logs in pool.map(self._recover_logs, _parts(partitions)):
                for log in logs:
                    if log is not None:
                        self._adopt(log)
                    done += 1
                    if progress is not None:
                        progress(done, len(partitions))
        return len(partitions)

    def close(self, *, broker_epoch: int = -1) -> None:
        """Close every open log and remember that all went well."""
        try:
            if self.offline is None:
                self._close_logs()
                self.checkpoint()
                if not self._unclosed:
                    note_clean(self.disk, self.path, broker_epoch)
        except OSError as error:
            if not is_full(error):
                raise StorageError(f"cannot close {self.path}: {error}") from error
            _logger.warning(
                "%s: cannot close %s, the next start recovers it", shortage(error), self.path
            )
        finally:
            self.cache.close_all()
            if self._lock is not None:
                self._lock.release()

    def _close_logs(self) -> None:
        """One that cannot be closed is recovered at the next start, and all the others with it."""
        for log, error in close_logs(self.disk, list(self.logs.values()), self._new_pool):
            self.fail_log(log.partition, f"cannot be closed: {error}")

    def abandon(self) -> None:
        """Let go of it as it is, as a crash would: nothing is written, no clean stop is noted."""
        self.cache.close_all()
        if self._lock is not None:
            self._lock.release()

    def fail(self, error: StorageError) -> None:
        """Take the directory offline, for good: only a restart looks at the disk again."""
        if self.offline is None:
            self.offline = error
            _logger.error("%s goes offline: %s", self.path, error)
            if self.on_offline is not None:
                self.on_offline(error)

    def check_online(self) -> None:
        if self.offline is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.path} is offline")

    def fail_log(self, partition: TopicPartition, reason: str) -> None:
        """Take one log offline, until the next start looks at it again."""
        if partition not in self.damaged:
            self.damaged[partition] = reason
            _logger.error("%s goes offline, the others are served: %s", partition, reason)
        log = self.logs.pop(partition, None)
        if log is not None:
            self.dirty.pop(log, None)
            log.release_files()
            self._unclosed = True

    # --- logs -----------------------------------------------------------------------------

    def partitions(self) -> Iterator[TopicPartition]:
        return iter(self._known)

    def __contains__(self, partition: TopicPartition) -> bool:
        return partition in self._known

    @property
    def partition_count(self) -> int:
        return len(self._known)

    def log(self, partition: TopicPartition, *, keep_whole: bool = False) -> Log | None:
        """The log, opened if it was not yet; None if there is none here."""
        log = self.logs.get(partition)
        if log is not None:
            return log
        if partition not in self._known:
            return None
        self.check_online()
        return self._adopt(self._open_log(partition, keep_whole=keep_whole))

    def create_log(
        self, partition: TopicPartition, topic_id: TopicId, *, keep_whole: bool = False
    ) -> Log:
        """The log, or a new, empty one; the first flush makes its directory durable too. With
        `keep_whole` a recovery cuts off no whole batch: the log is DamagedLog rather than that."""
        self.check_online()
        existing = self.log(partition, keep_whole=keep_whole)
        if existing is not None:
            return existing
        self._checkpoints.begin(partition, self.logs.values())
        log = self._open_log(partition)
        self.write_topic_id(partition, topic_id)
        self._known.add(partition)
        return self._adopt(log)

    def delete_log(self, partition: TopicPartition) -> None:
        """Take it out of the way at once, opened or not; its directory goes after the delay."""
        if partition not in self._known:
            return
        log = self.logs.pop(partition, None)
        if log is not None:
            self.dirty.pop(log, None)
            delete_log(log, self._new_unique())
        else:
            target = f"{self.path}/{names.deleted_dir_name(partition, self._new_unique())}"
            due_ms = self.clock.now_ms() + self.config_of(partition).file_delete_delay_ms
            if self._rename(self._directory(partition), target):
                self.trash.add_directory(target, due_ms)
        self.forget(partition)

    # --- logs that move between directories (`promotion` has the order of things) -----------

    def create_future(self, partition: TopicPartition, topic_id: TopicId, start: int) -> Log:
        """An empty log that begins at the offset, and is to become the partition's."""
        self.check_online()
        # What is remembered of an earlier log of that name says nothing of this one.
        self._checkpoints.forget(partition)
        directory = f"{self.path}/{names.future_dir_name(partition, self._new_unique())}"
        config = self.config_of(partition)
        future = open_log(
            directory, partition, config, self.cache, self.clock, self.trash, log_start_offset=start
        )
        try:
            write_topic_id(self.disk, f"{directory}/{names.PARTITION_METADATA}", topic_id)
        except OSError as error:
            raise failure_of(error, "write to", directory) from error
        future.on_failure = self.fail
        self.futures[partition] = future
        return future

    def drop_future(self, partition: TopicPartition) -> None:
        future = self.futures.pop(partition, None)
        if future is not None and self.offline is None:
            self._checkpoints.forget(partition)
            delete_log(future, self._new_unique())

    def expect(self, moved: Log, safe_offset: int) -> None:
        """A log is about to be moved here: what it is remembered by is written down first."""
        self._checkpoints.expect(moved, safe_offset)
        self._checkpoints.write(self.logs.values())

    def admit(self, partition: TopicPartition) -> None:
        """It is in its place, or will be with the next start."""
        self.futures.pop(partition, None)
        self._known.add(partition)

    def open_moved(self, partition: TopicPartition, end_offset: int) -> Log:
        """All of it was synced, so that nothing has to be recovered."""
        self._checkpoints.recovery_points[partition] = end_offset
        return self._adopt(self._open_log(partition, clean=True))

    def _rename(self, source: str, target: str) -> bool:
        """False if somebody else took it away."""
        try:
            self.disk.rename(source, target)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StorageError(f"cannot rename {source}: {error}") from error
        return True

    def forget(self, partition: TopicPartition) -> None:
        """As if it were not here, whatever there is on disk."""
        self._known.discard(partition)
        self.damaged.pop(partition, None)
        self._checkpoints.forget(partition)

    def topic_id(self, partition: TopicPartition) -> TopicId | None:
        """Which topic the directory was made for; None if it does not say."""
        path = f"{self._directory(partition)}/{names.PARTITION_METADATA}"
        try:
            return read_topic_id(self.disk, path)
        except DamagedFile as damage:
            put_aside(self.disk, path)
            _logger.warning("%s; written anew with the id of the topic", damage)
        except OSError as error:
            if not is_of_one_file(error):
                raise failure_of(error, "read", path) from error
        return None

    def write_topic_id(self, partition: TopicPartition, topic_id: TopicId) -> None:
        directory = self._directory(partition)
        try:
            write_topic_id(self.disk, f"{directory}/{names.PARTITION_METADATA}", topic_id)
        except OSError as error:
            if is_of_one_file(error):
                raise DamagedLog(f"cannot write to {directory}: {error}") from error
            raise failure_of(error, "write to", directory) from error

    def high_watermark(self, partition: TopicPartition) -> int:
        """As of the last checkpoint; the log itself may already know better."""
        return self._checkpoints.high_watermarks.get(partition, 0)

    def size_bytes(self, partition: TopicPartition) -> int:
        """Without opening a log that nobody uses."""
        log = self.logs.get(partition)
        if log is not None:
            return log.size_bytes
        return sum(found.st_size for found in self._segment_stats(partition))

    def set_aside(self, partition: TopicPartition) -> str:
        """Take a directory out of use without deleting anything; where it is now."""
        log = self.logs.pop(partition, None)
        if log is not None:
            log.close()
            self.dirty.pop(log, None)
        target = f"{self.path}/{names.stray_dir_name(partition, self._new_unique())}"
        self._rename(self._directory(partition), target)
        self.forget(partition)
        return target

    def may_have_expired(self, partition: TopicPartition, now_ms: int) -> bool:
        """Whether retention could find anything in a log that nobody has opened."""
        if partition not in self._known:
            return False
        config = self.config_of(partition)
        if config.retention_bytes >= 0:
            return True
        stats = self._segment_stats(partition)
        oldest = min((found.st_mtime_ns for found in stats), default=0)
        return config.retention_ms >= 0 and now_ms - oldest // 1_000_000 > config.retention_ms

    def _segment_stats(self, partition: TopicPartition) -> list[FileStat]:
        """What cannot be looked at counts as not there: opening the log says what is wrong."""
        directory = self._directory(partition)
        stats = []
        try:
            for name in self.disk.listdir(directory):
                if name.endswith(names.LOG):
                    stats.append(self.disk.stat(f"{directory}/{name}"))
        except OSError as error:
            if not is_of_one_file(error):
                raise
        return stats

    def space(self) -> tuple[int, int]:
        """Bytes of the file system the directory is on: in all, and free for us."""
        return self.disk.space(self.path)

    # --- checkpoints ----------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Remember recovery points, starts and high watermarks; from a timer and at the end."""
        self._checkpoints.write(self.logs.values())

    def lower_recovery_point(self, partition: TopicPartition, offset: int) -> None:
        """Before a log is cut: after a crash it would seem to have lost what was cut off."""
        self._checkpoints.lower_recovery_point(partition, offset)

    def checkpoint_log_starts(self) -> None:
        """Also at once when records were deleted: what is gone for readers must not come back."""
        self._checkpoints.write_log_starts(self.logs.values())

    # --- timers ---------------------------------------------------------------------------

    def flush_due(self, now_ms: int) -> list[Log]:
        """Logs whose oldest unsynced record has waited for flush.ms."""
        self.dirty = {log: None for log in self.dirty if log.dirty_since_ms >= 0}
        return [log for log in self.dirty if now_ms - log.dirty_since_ms >= log.config.flush_ms]

    def empty_trash(self, time_s: float = 1.0) -> int:
        """Blocks on the disk: for a thread."""
        return self.trash.empty(self.clock.now_ms(), time_s, self.clock.monotonic)

    def _adopt(self, log: Log) -> Log:
        self.logs[log.partition] = log
        restore_high_watermark(log, self.high_watermark(log.partition))
        log.on_dirty = self._mark_dirty
        log.on_failure = self.fail
        log.on_damage = self._note_damage
        return log

    def _note_damage(self, log: Log, what: str) -> None:
        """A file of the log cannot be used; what does not need it goes on being served."""
        if log.closed:
            self.fail_log(log.partition, what)
        elif what not in self._noted:
            self._noted.add(what)
            _logger.error("%s is damaged: %s", log.partition, what)

    def _mark_dirty(self, log: Log) -> None:
        self.dirty[log] = None

    def _open_log(
        self, partition: TopicPartition, *, keep_whole: bool = False, clean: bool = False
    ) -> Log:
        if partition in self.damaged:
            raise DamagedLog(f"{partition} is offline: {self.damaged[partition]}")
        known = partition in self._known
        try:
            return open_log(
                self._directory(partition),
                partition,
                self.config_of(partition),
                self.cache,
                self.clock,
                self.trash,
                clean=clean or self.was_clean or not known,
                recovery_point=self._checkpoints.recovery_points.get(partition, 0),
                log_start_offset=self._checkpoints.log_starts.get(partition, 0),
                losses=self.losses,
                keep_whole=keep_whole,
            )
        except (StorageError, InvariantError):
            raise
        except ApiError as error:
            # Who asked to keep it whole says itself what the damage means.
            if isinstance(error, DamagedLog) and not keep_whole:
                self.fail_log(partition, str(error))
            raise
        except Exception as error:
            # Bytes that nobody thought of: they are this log's alone all the same.
            self.fail_log(partition, f"{type(error).__name__}: {error}")
            _logger.debug("%s", partition, exc_info=error)
            raise DamagedLog(f"{partition} is offline: {error}") from error

    def _recover_logs(self, partitions: Sequence[TopicPartition]) -> list[Log | None]:
        return [self._recover_log(each) for each in partitions]

    def _recover_log(self, partition: TopicPartition) -> Log | None:
        """One damaged log keeps nobody else from starting; touching it says what is wrong."""
        try:
            log = self._open_log(partition)
        except DamagedLog:
            return None
        except ApiError as error:
            _logger.error("%s stays closed: %s", partition, error)
            return None
        for segment in log.segments:
            segment.close()
        return log

    def _directory(self, partition: TopicPartition) -> str:
        return f"{self.path}/{partition.topic}-{partition.partition}"

    def _scan(self) -> None:
        for name in list(self.disk.listdir(self.path)):
            partition = names.parse_partition_dir(name)
            if partition is not None:
                self._known.add(partition)
            elif name.endswith(names.DELETE_DIR):
                self.trash.add_directory(f"{self.path}/{name}", self.clock.now_ms())
            elif (moved := names.parse_future_dir(name)) is not None:
                self.found_futures.append((moved, f"{self.path}/{name}"))
            elif name.endswith(".tmp"):
                remove_file(self.disk, f"{self.path}/{name}")


def _parts(partitions: Sequence[TopicPartition]) -> Iterator[Sequence[TopicPartition]]:
    for first in range(0, len(partitions), RECOVERED_AT_ONCE):
        yield partitions[first : first + RECOVERED_AT_ONCE]


def _unusable(path: str, error: OSError) -> StorageError:
    what = f"cannot use {path}: {error}"
    if isinstance(error, PermissionError):
        what += "; give this user the right to write there, or name another directory"
    return StorageError(what)
