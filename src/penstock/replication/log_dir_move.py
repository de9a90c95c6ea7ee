"""A replica on its way from one directory of its node to another: the copy of its log.

The copy, Kafka's future replica, takes whole batches of the log as a follower does, so producers,
epochs and the gaps that compaction leaves come along. Owns how far it is; when it goes on, and
when it takes the place of the log, is for `log_dir_moves` to say.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.model.id import TopicPartition
from penstock.replication.fetched import usable_length
from penstock.replication.partition import Partition
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.trim import batch_start

FLUSH_BYTES = 16 << 20
"""Copied between two syncs: the last one, for which appends wait, must not have much to do."""
UNSYNCED_BYTES_MAX = 8 << 20
_ANY_EPOCH = (1 << 31) - 1


class LogDirMove:
    def __init__(self, partition: Partition, source: LogDir, target: LogDir) -> None:
        """StorageError, or an ApiError, where no copy can be begun."""
        self.partition = partition
        self.key = TopicPartition(partition.topic, partition.index)
        self.source = source
        self.target = target
        self.current = partition.log
        self.told_s: float | None = None
        """When the controller was last told that the replica is to be in the other directory."""
        self.expected_start = -1
        """The log start that the other directory has written down."""
        self.future = self._begin()

    def _begin(self) -> Log:
        current = self.current
        self._generation = current.generation
        self._is_synced = self._is_flushing = False
        self._unsynced_bytes = 0
        start = batch_start(current, current.log_start_offset)
        future = self.target.create_future(self.key, self.partition.topic_id, start)
        future.on_flushed = self._on_flushed
        return future

    @property
    def is_possible(self) -> bool:
        """The log is still the partition's, and both disks are in order."""
        partition = self.partition
        return (
            partition.ended is None
            and partition.is_open
            and partition.log is self.current
            and not self.current.closed
            and self.source.offline is None
            and self.target.offline is None
        )

    @property
    def lag(self) -> int:
        return self.current.end_offset - self.future.end_offset

    def copy(self, max_bytes: int, now_ms: int) -> int:
        """The next batches; how many bytes they were. 0 if none are left."""
        current = self.current
        if current.generation != self._generation or self._is_outrun():
            # What was copied is in the log no longer, or not as it was.
            self.target.drop_future(self.key)
            self.future = self._begin()
        future = self.future
        if future.end_offset >= current.end_offset:
            return 0
        start = max(future.end_offset, current.log_start_offset)
        found = current.read(start, max_bytes, current.end_offset)
        if not found.slices:
            # Compaction has left nothing up to the end.
            future.roll(current.end_offset, now_ms)
            future.note_appended(0, current.end_offset, now_ms)
            return 0
        with found.slices[0] as part:
            records = part.read()
        size = usable_length(records, _ANY_EPOCH)
        future.append_replica(memoryview(records)[:size], now_ms)
        self._unsynced_bytes += size
        return size

    def _is_outrun(self) -> bool:
        """The log starts behind the copy's end: what is copied is of no use."""
        current, end = self.current, self.future.end_offset
        start = current.log_start_offset
        return end < start and end < batch_start(current, start)

    def flush_some(self, flush: Callable[[Log], None]) -> None:
        if self._unsynced_bytes >= FLUSH_BYTES:
            self._ask_flush(flush)

    def is_safe(self, flush: Callable[[Log], None]) -> bool:
        """Whether the copy and its name are on disk, save for a little at its end; if not, that is
        asked for."""
        if self._is_synced and self._unsynced_bytes <= UNSYNCED_BYTES_MAX:
            return True
        self._ask_flush(flush)
        return False

    def _ask_flush(self, flush: Callable[[Log], None]) -> None:
        if not self._is_flushing:
            self._is_flushing = True
            self._unsynced_bytes = 0
            flush(self.future)

    def _on_flushed(self, log: Log) -> None:
        if log is self.future:
            self._is_synced, self._is_flushing = True, False
