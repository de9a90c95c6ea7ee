"""A data directory: its lock, its checkpoints, and the logs in it.

Logs open when first touched; after a crash all are recovered at the start instead. Owns what is
remembered between two starts. A failing disk takes the directory offline as a whole: from then
on nothing in it is served, and nothing written.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicId, TopicPartition
from penstock.storage import names
from penstock.storage.checkpoint import (
    read_offsets,
    read_topic_id,
    write_offsets,
    write_topic_id,
)
from penstock.storage.closing import close_logs
from penstock.storage.config import LogConfig
from penstock.storage.dir_lock import DirectoryLock
from penstock.storage.disk import Disk, RealDisk, read_whole, replace_file
from penstock.storage.failure import failure_of, is_full, shortage
from penstock.storage.file_cache import FileCache
from penstock.storage.loader import open_log
from penstock.storage.log import Log
from penstock.storage.properties import decode_properties, encode_properties
from penstock.storage.trash import Trash, remove_file
from penstock.storage.trim import delete_log

_logger = logging.getLogger(__name__)

ConfigOf = Callable[[TopicPartition], LogConfig]
Progress = Callable[[int, int], None]
"""(logs recovered, logs to recover)."""


class LogDir:
    def __init__(
        self,
        path: str,
        clock: Clock,
        config_of: ConfigOf,
        *,
        disk: Disk | None = None,
        cache: FileCache | None = None,
    ) -> None:
        self.path = path.rstrip("/")
        self.clock = clock
        self.config_of = config_of
        self.disk: Disk = disk or RealDisk()
        self.cache = cache or FileCache(self.disk)
        self.trash = Trash(self.disk)
        self.logs: dict[TopicPartition, Log] = {}
        self.dirty: dict[Log, None] = {}
        self.offline: StorageError | None = None
        self.on_offline: Callable[[StorageError], None] | None = None
        self.was_clean = False
        self._lock: DirectoryLock | None = None
        self._known: set[TopicPartition] = set()
        self._recovery_points: dict[TopicPartition, int] = {}
        self._log_starts: dict[TopicPartition, int] = {}
        self._high_watermarks: dict[TopicPartition, int] = {}

    # --- start and stop -------------------------------------------------------------------

    def open(self) -> None:
        """Lock the directory and look through it; recovers nothing yet."""
        try:
            self.disk.mkdir(self.path)
            if isinstance(self.disk, RealDisk):
                self._lock = DirectoryLock(self.path)
            self._scan()
            self._recovery_points = self._read(names.RECOVERY_POINTS)
            self._log_starts = self._read(names.LOG_STARTS)
            self._high_watermarks = self._read(names.HIGH_WATERMARKS)
            marker = f"{self.path}/{names.CLEAN_SHUTDOWN}"
            self.was_clean = self.disk.exists(marker)
            # Gone before anything can change: a crash from here on must not look like a stop.
            if self.was_clean:
                self.disk.unlink(marker)
                self.disk.fsync_dir(self.path)
        except OSError as error:
            raise StorageError(f"cannot use {self.path}: {error}") from error

    def recover(self, progress: Progress | None = None, threads: int = 2) -> int:
        """After a crash, open every log and repair it; how many there were."""
        if self.was_clean:
            return 0
        partitions = sorted(self._known - self.logs.keys())
        with ThreadPoolExecutor(max(threads, 1), "recovery") as pool:
            for done, log in enumerate(pool.map(self._recover_log, partitions), 1):
                if log is not None:
                    self._adopt(log)
                if progress is not None:
                    progress(done, len(partitions))
        return len(partitions)

    def close(self, *, broker_epoch: int = -1) -> None:
        """Close every open log and remember that all went well."""
        try:
            if self.offline is None:
                close_logs(self.disk, list(self.logs.values()))
                self.checkpoint()
                data = json.dumps({"version": 0, "brokerEpoch": broker_epoch}).encode()
                replace_file(self.disk, f"{self.path}/{names.CLEAN_SHUTDOWN}", data)
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

    # --- logs -----------------------------------------------------------------------------

    def partitions(self) -> Iterator[TopicPartition]:
        return iter(self._known)

    def __contains__(self, partition: TopicPartition) -> bool:
        return partition in self._known

    def log(self, partition: TopicPartition) -> Log | None:
        """The log, opened if it was not yet; None if there is none here."""
        log = self.logs.get(partition)
        if log is not None:
            return log
        if partition not in self._known:
            return None
        self.check_online()
        return self._adopt(self._open_log(partition))

    def create_log(self, partition: TopicPartition, topic_id: TopicId) -> Log:
        """Make a new, empty log; the first flush makes its directory durable too."""
        self.check_online()
        existing = self.log(partition)
        if existing is not None:
            return existing
        log = self._open_log(partition)
        try:
            path = f"{log.directory}/{names.PARTITION_METADATA}"
            write_topic_id(self.disk, path, topic_id)
        except OSError as error:
            raise failure_of(error, "write to", log.directory) from error
        self._known.add(partition)
        return self._adopt(log)

    def delete_log(self, partition: TopicPartition) -> None:
        log = self.log(partition)
        if log is None:
            return
        delete_log(log, uuid4())
        self._known.discard(partition)
        self.logs.pop(partition, None)
        self.dirty.pop(log, None)
        for offsets in (self._recovery_points, self._log_starts, self._high_watermarks):
            offsets.pop(partition, None)

    def topic_id(self, partition: TopicPartition) -> TopicId | None:
        path = f"{self._directory(partition)}/{names.PARTITION_METADATA}"
        return read_topic_id(self.disk, path)

    def high_watermark(self, partition: TopicPartition) -> int:
        """As of the last checkpoint; the log itself may already know better."""
        return self._high_watermarks.get(partition, 0)

    def size_bytes(self, partition: TopicPartition) -> int:
        """Without opening a log that nobody uses."""
        log = self.logs.get(partition)
        if log is not None:
            return log.size_bytes
        directory = self._directory(partition)
        found = (name for name in self.disk.listdir(directory) if name.endswith(names.LOG))
        return sum(self.disk.stat(f"{directory}/{name}").st_size for name in found)

    def set_aside(self, partition: TopicPartition) -> str:
        """Take a directory out of use without deleting anything; where it is now."""
        log = self.logs.pop(partition, None)
        if log is not None:
            log.close()
            self.dirty.pop(log, None)
        target = f"{self._directory(partition)}.{uuid4().hex}{names.STRAY_DIR}"
        self.disk.rename(self._directory(partition), target)
        self._known.discard(partition)
        return target

    def may_have_expired(self, partition: TopicPartition, now_ms: int) -> bool:
        """Whether retention could find anything in a log that nobody has opened."""
        if partition not in self._known:
            return False
        config = self.config_of(partition)
        if config.retention_bytes >= 0:
            return True
        directory = self._directory(partition)
        oldest = min(
            (
                self.disk.stat(f"{directory}/{name}").st_mtime_ns
                for name in self.disk.listdir(directory)
                if name.endswith(names.LOG)
            ),
            default=0,
        )
        return config.retention_ms >= 0 and now_ms - oldest // 1_000_000 > config.retention_ms

    def space(self) -> tuple[int, int]:
        """Bytes of the file system the directory is on: in all, and free for us."""
        found = os.statvfs(self.path)
        return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize

    # --- checkpoints ----------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Remember recovery points, starts and high watermarks; from a timer and at the end.

        On a full disk the old files stay, which costs a longer recovery and nothing else.
        """
        for partition, log in self.logs.items():
            self._recovery_points[partition] = log.recovery_point
            self._high_watermarks[partition] = log.high_watermark
        self._write(names.RECOVERY_POINTS, self._recovery_points)
        self._write(names.HIGH_WATERMARKS, self._high_watermarks)
        self.checkpoint_log_starts()

    def checkpoint_log_starts(self) -> None:
        """Also at once when records were deleted: what is gone for readers must not come back."""
        for partition, log in self.logs.items():
            if log.log_start_offset > log.bases[0]:
                self._log_starts[partition] = log.log_start_offset
            else:
                self._log_starts.pop(partition, None)
        self._write(names.LOG_STARTS, self._log_starts)

    def _write(self, name: str, offsets: dict[TopicPartition, int]) -> None:
        try:
            write_offsets(self.disk, f"{self.path}/{name}", offsets)
        except OSError as error:
            if not is_full(error):
                raise StorageError(f"cannot checkpoint {self.path}: {error}") from error
            _logger.warning("%s: checkpoints of %s put off", shortage(error), self.path)

    def read_properties(self) -> dict[str, str]:
        """meta.properties: who this directory belongs to."""
        path = f"{self.path}/{names.META_PROPERTIES}"
        if not self.disk.exists(path):
            return {}
        return decode_properties(read_whole(self.disk, path).decode())

    def write_properties(self, properties: dict[str, str]) -> None:
        data = encode_properties(properties).encode()
        replace_file(self.disk, f"{self.path}/{names.META_PROPERTIES}", data)

    # --- timers ---------------------------------------------------------------------------

    def flush_due(self, now_ms: int) -> list[Log]:
        """Logs whose oldest unsynced record has waited for flush.ms."""
        self.dirty = {log: None for log in self.dirty if log.dirty_since_ms >= 0}
        return [log for log in self.dirty if now_ms - log.dirty_since_ms >= log.config.flush_ms]

    def expire_producers(self, expiration_ms: int) -> int:
        """Forget producers that fell silent; logs that nobody opened have none in memory."""
        now_ms = self.clock.now_ms()
        return sum(log.producers.expire(now_ms, expiration_ms) for log in self.logs.values())

    def empty_trash(self, limit: int = 16) -> int:
        return self.trash.empty(self.clock.now_ms(), limit)

    def _adopt(self, log: Log) -> Log:
        self.logs[log.partition] = log
        log.on_dirty = self._mark_dirty
        log.on_failure = self.fail
        return log

    def _mark_dirty(self, log: Log) -> None:
        self.dirty[log] = None

    def _open_log(self, partition: TopicPartition) -> Log:
        known = partition in self._known
        return open_log(
            self._directory(partition),
            partition,
            self.config_of(partition),
            self.cache,
            self.clock,
            self.trash,
            clean=self.was_clean or not known,
            recovery_point=self._recovery_points.get(partition, 0),
            log_start_offset=self._log_starts.get(partition, 0),
        )

    def _recover_log(self, partition: TopicPartition) -> Log | None:
        """One damaged log keeps nobody else from starting; touching it says what is wrong."""
        try:
            log = self._open_log(partition)
        except ApiError as error:
            _logger.error("%s stays closed: %s", partition, error)
            return None
        for segment in log.segments:
            segment.close()
        return log

    def _directory(self, partition: TopicPartition) -> str:
        return f"{self.path}/{partition.topic}-{partition.partition}"

    def _read(self, name: str) -> dict[TopicPartition, int]:
        return read_offsets(self.disk, f"{self.path}/{name}")

    def _scan(self) -> None:
        for name in list(self.disk.listdir(self.path)):
            partition = names.parse_partition_dir(name)
            if partition is not None:
                self._known.add(partition)
            elif name.endswith(names.DELETE_DIR):
                self.trash.add_directory(f"{self.path}/{name}", self.clock.now_ms())
            elif name.endswith(".tmp"):
                remove_file(self.disk, f"{self.path}/{name}")
