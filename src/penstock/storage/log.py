"""One partition's log: appends, reads, and where it starts, ends and is safe on disk.

Owns the list of segments and the offsets; leaves bytes to `segment`, sequences to
`producer_state`, opening and recovery to `loader`, and deciding what is too old to `retention`.
Used from one thread. It never waits for the disk: `flush_start` says what has to be synced, and
`flush_done` is told when that happened.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from struct import Struct
from threading import Lock
from typing import NamedTuple, NoReturn

from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.records.control import EndMarker
from penstock.records.header import (
    CONTROL_BIT,
    LOG_OVERHEAD,
    BatchHeader,
    Buffer,
    CorruptBatch,
    WritableBuffer,
    assign_append_time,
)
from penstock.storage import names
from penstock.storage.abort_note import noted_abort
from penstock.storage.append_check import AppendCheck, BatchCheck, Origin
from penstock.storage.config import LogConfig
from penstock.storage.damage import DamagedLog, is_of_one_file
from penstock.storage.disk import Disk
from penstock.storage.epoch_cache import EpochCache
from penstock.storage.failure import failure_of, is_full
from penstock.storage.file_cache import FileCache
from penstock.storage.flush.ticket import FlushTicket
from penstock.storage.locate import cut_slice, locate
from penstock.storage.producer.entry import ProducerEntry, WrittenBatch
from penstock.storage.producer.recall import earlier_batches
from penstock.storage.producer.snapshot import SnapshotFiles
from penstock.storage.producer.state import ProducerState
from penstock.storage.recovery.replay import read_marker
from penstock.storage.replica_append import append_replicated
from penstock.storage.segment import RELATIVE_OFFSET_MAX, Segment
from penstock.storage.slice import FileSlice
from penstock.storage.trash import Trash


class AppendResult(NamedTuple):
    first_offset: int
    last_offset: int
    append_time_ms: int
    """-1 where the topic keeps the producers' own timestamps."""
    log_start_offset: int
    duplicate: bool
    size_bytes: int


class ReadResult(NamedTuple):
    slices: tuple[FileSlice, ...]
    size_bytes: int


EMPTY_READ = ReadResult((), 0)

_PREFIX = Struct(">qii")
# Offset and epoch stand around the length: writing all three again is one call instead of two.
_assign = _PREFIX.pack_into
# A named tuple straight from a tuple: half the cost of calling the class.
_as_result = tuple.__new__


class Log:
    def __init__(
        self,
        directory: str,
        partition: TopicPartition,
        config: LogConfig,
        cache: FileCache,
        clock: Clock,
        trash: Trash,
        segments: list[Segment],
        *,
        log_start_offset: int,
        end_offset: int,
        recovery_point: int,
        epochs: EpochCache,
        producers: ProducerState,
        snapshots: SnapshotFiles,
        synced: bool,
    ) -> None:
        self.directory = directory
        self.partition = partition
        self.cache = cache
        self.disk: Disk = cache.disk
        self.clock = clock
        self.trash = trash
        self.segments = segments
        self.bases = [segment.base_offset for segment in segments]
        self.active = segments[-1]
        self.log_start_offset = log_start_offset
        self.end_offset = end_offset
        self.recovery_point = recovery_point
        self.high_watermark = log_start_offset
        self.epochs = epochs
        self.take_producers(producers)
        self.snapshots = snapshots
        self.on_dirty: Callable[[Log], None] | None = None
        self.on_flushed: Callable[[Log], None] | None = None
        self.on_start_moved: Callable[[Log], None] | None = None
        self.on_failure: Callable[[StorageError], None] | None = None
        self.on_damage: Callable[[Log, str], None] | None = None
        self.on_corrupt: Callable[[Log, int], None] | None = None
        """Told of a batch that cannot be served, with the base offset of a segment in front."""
        self.dirty_since_ms = -1
        self.size_bytes = sum(segment.size for segment in segments)
        # Whether the names of the files, and of the directory, are known to be on disk.
        self._directory_synced = synced
        self._segment_synced = synced
        self._changed = not synced
        self.generation = 0
        """Another one whenever the log was cut: what was known of its end may be wrong since."""
        self.closed = False
        self.removed = False
        # Held while a flush thread works by path: a topic that is deleted moves its directory,
        # and the next topic of that name must not be given the files of this one.
        self.naming = Lock()
        # Completed, but not synced as a whole yet: the indexes are complete only since then.
        self._unsynced = segments[max(bisect_right(self.bases, recovery_point - 1) - 1, 0) : -1]
        self.update_config(config)

    def take_producers(self, producers: ProducerState) -> None:
        self.producers = producers
        producers.find_earlier = self._find_earlier

    def advance_high_watermark(self, offset: int) -> None:
        """All replicas have everything before the offset."""
        if offset > self.high_watermark:
            self.high_watermark = offset
            self.producers.advance_high_watermark(offset)

    def update_config(self, config: LogConfig) -> None:
        self.config = config
        self.append_check = AppendCheck(config)
        self._prepared: Segment | None = None
        self._roll_wait_ms = config.segment_ms
        self._segment_bytes = config.segment_bytes
        self._index_entries_max = min(
            config.segment_index_bytes // 8, config.segment_index_bytes // 12 - 1
        )
        for segment in self.segments:
            segment.index_interval_bytes = config.index_interval_bytes

    # --- append ---------------------------------------------------------------------------

    def append(
        self,
        records: WritableBuffer,
        leader_epoch: int,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        checked: BatchCheck | None = None,
    ) -> AppendResult:
        """Write one batch as leader: it gets the next offsets, in place.

        TooMuchToCheckError where it has to be `checked` elsewhere first."""
        if self.closed:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.partition} is closed")
        quick = None
        if origin is not Origin.CLIENT:
            quick = self.append_check.trusted(records)
        elif checked is None:
            quick = self.append_check.quick(records, now_ms)
        if quick is not None:
            header = quick
        else:
            checked = self.append_check.check_here(records, now_ms, origin, checked)
            records, header = checked.records, checked.header
        marker = None
        if header.producer_id >= 0:
            if header.attributes & CONTROL_BIT:
                marker = self._check_marker(records, header)
            else:
                written = self.producers.check(header, sequences=origin is Origin.CLIENT)
                if written is not None:
                    return self._duplicate(written)
        first_offset = self.end_offset
        last_offset = first_offset + header.last_offset_delta
        _assign(records, 0, first_offset, header.batch_length, leader_epoch)
        append_time = -1
        timestamp = header.max_timestamp
        if quick is None and self.append_check.append_time and not header.attributes & CONTROL_BIT:
            append_time = timestamp = now_ms
            assign_append_time(records, 0, now_ms)
        size = header.batch_length + LOG_OVERHEAD
        try:
            segment = self.segment_for(size, first_offset, last_offset, timestamp, now_ms)
            if marker is None or marker.commit:
                segment.append(records, size, first_offset, last_offset, timestamp)
            else:
                with noted_abort(segment, self.producers, header.producer_id, first_offset):
                    segment.append(records, size, first_offset, last_offset, timestamp)
        except OSError as error:
            self.fail_write(error)
        if leader_epoch != self.epochs.latest:
            self.epochs.assign(leader_epoch, first_offset)
        self.note_appended(size, last_offset + 1, now_ms)
        if header.producer_id >= 0:
            self.update_producer(header, first_offset, timestamp, marker)
        fields = (first_offset, last_offset, append_time, self.log_start_offset, False, size)
        return _as_result(AppendResult, fields)

    def _duplicate(self, written: WrittenBatch) -> AppendResult:
        """As Kafka answers: with the offsets and the time of the first attempt."""
        first, last, timestamp = written.first_offset, written.last_offset, written.timestamp
        return AppendResult(first, last, timestamp, self.log_start_offset, True, 0)

    def _find_earlier(self, entry: ProducerEntry) -> list[WrittenBatch]:
        try:
            return earlier_batches(self.segments, entry)
        except OSError as error:
            self.fail_read(error)

    def _check_marker(self, records: Buffer, header: BatchHeader) -> EndMarker | None:
        marker = read_marker(records, header)
        if marker is not None:
            self.producers.check_marker(header, marker)
        return marker

    def append_replica(self, records: Buffer, now_ms: int) -> AppendResult:
        """Write whole batches as follower, with the offsets and epochs of their leader."""
        first, last = append_replicated(self, records, now_ms)
        return AppendResult(first, last, -1, self.log_start_offset, False, len(records))

    def segment_for(
        self, size: int, first_offset: int, last_offset: int, timestamp: int, now_ms: int
    ) -> Segment:
        """The active segment, rolled first if it cannot take the batch."""
        segment = self.active
        if segment is not self._prepared:
            self._prepare(segment)
        first = segment.first_timestamp or 0
        waited_ms = timestamp - first if first >= 0 else now_ms - segment.created_ms
        if (
            segment.size + size > self._segment_bytes
            or segment.entry_count >= self._index_entries_max
            or last_offset - segment.base_offset > RELATIVE_OFFSET_MAX
            or (waited_ms > self._roll_wait_ms and segment.size > 0)
        ):
            return self.roll(first_offset, now_ms)
        return segment

    def _prepare(self, segment: Segment) -> None:
        segment.prepare_append()
        # Jitter spreads the rolls of many partitions; it is the same for a segment every time.
        spread = self.config.segment_jitter_ms
        seed = hash((self.partition.partition, segment.base_offset))
        self._roll_wait_ms = self.config.segment_ms - (seed % spread if spread > 0 else 0)
        self._prepared = segment

    def note_appended(self, size: int, end_offset: int, now_ms: int) -> None:
        self.size_bytes += size
        self.end_offset = end_offset
        if self.dirty_since_ms < 0:
            self.dirty_since_ms = now_ms
            if self.on_dirty is not None:
                self.on_dirty(self)

    def update_producer(
        self, header: BatchHeader, offset: int, timestamp: int, marker: EndMarker | None
    ) -> None:
        if not header.attributes & CONTROL_BIT:
            self.producers.apply(header, offset, timestamp)
        elif marker is not None:
            self.producers.apply_marker(header, marker, offset)

    def fail_write(self, error: OSError) -> NoReturn:
        if is_full(error):
            raise failure_of(error, "write to", self.directory) from error
        # What of it is in the files cannot be known: nothing may be written behind it.
        self.closed = self.closed or is_of_one_file(error)
        self._fail(f"cannot write to {self.directory}: {error}", error)

    def fail_read(self, error: OSError) -> NoReturn:
        if is_full(error):
            raise failure_of(error, "read", self.directory) from error
        self._fail(f"cannot read {self.directory}: {error}", error)

    def _fail(self, message: str, cause: OSError) -> NoReturn:
        if is_of_one_file(cause):
            if self.on_damage is not None:
                self.on_damage(self, message)
            raise DamagedLog(message) from cause
        failure = StorageError(message)
        if self.on_failure is not None:
            self.on_failure(failure)
        raise failure from cause

    # --- segments -------------------------------------------------------------------------

    def roll(self, base_offset: int | None = None, now_ms: int | None = None) -> Segment:
        """Start a new segment; the old one is complete from here on."""
        base_offset = self.end_offset if base_offset is None else base_offset
        old = self.active
        if old.base_offset == base_offset and old.size == 0:
            return old
        created_ms = self.clock.now_ms() if now_ms is None else now_ms
        segment = self.new_segment(base_offset, created_ms)
        try:
            # In this order: were the new file there already when this fails, the old segment would
            # go on over the offset that the new one claims.
            old.seal()
            segment.create_files()
        except OSError as error:
            self.fail_write(error)
        self._unsynced.append(old)
        self.segments.append(segment)
        self.bases.append(base_offset)
        self.active = segment
        self._segment_synced = False
        self._changed = True
        self.take_snapshot(base_offset)
        return segment

    def new_segment(self, base_offset: int, created_ms: int) -> Segment:
        return Segment(
            self.cache,
            self.directory,
            base_offset,
            size=0,
            created_ms=created_ms,
            index_interval_bytes=self.config.index_interval_bytes,
            create=True,
        )

    def segment_at(self, offset: int) -> Segment:
        """The segment that holds the offset, or the first one."""
        return self.segments[max(bisect_right(self.bases, offset) - 1, 0)]

    def take_snapshot(self, offset: int) -> None:
        """Remember the producers as of here, so that opening need not replay what is before."""
        if offset in self.snapshots.offsets:
            return
        try:
            self.snapshots.write(offset, self.producers.freeze())
        except OSError as error:
            if not is_full(error):
                self._fail(f"cannot write to {self.directory}: {error}", error)

    # --- read -----------------------------------------------------------------------------

    def read(
        self, offset: int, max_bytes: int, upper_bound: int, min_one: bool = True
    ) -> ReadResult:
        """Batches from the one that holds `offset`, none of which reaches `upper_bound`.

        The last one may be cut off by `max_bytes`; the first one only without `min_one`, and
        then nothing is returned. Checksums of what was not written by this process are verified
        once: a damaged batch is CORRUPT_MESSAGE, never data.
        """
        if offset < self.log_start_offset or offset > self.end_offset:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of {self.partition} is not within "
                f"[{self.log_start_offset}, {self.end_offset}]",
            )
        try:
            place = locate(self, offset, upper_bound)
            part = place and cut_slice(self, place, max_bytes, upper_bound, min_one)
        except OSError as error:
            self.fail_read(error)
        except CorruptBatch:
            if self.on_corrupt is not None:
                self.on_corrupt(self, self.segment_at(offset).base_offset)
            raise
        return EMPTY_READ if part is None else ReadResult((part,), part.length)

    def distrust(self) -> None:
        """Checksums of all that is read from now on are verified anew, once."""
        for segment in self.segments:
            segment.verified_from = segment.verified_to = segment.size

    # --- flush ----------------------------------------------------------------------------

    @property
    def unflushed_messages(self) -> int:
        return self.end_offset - self.recovery_point

    def flush_start(self) -> FlushTicket:
        ticket = FlushTicket(self, self.generation)
        try:
            self.flush_extend(ticket)
        except OSError:
            ticket.release()
            raise
        return ticket

    def flush_extend(self, ticket: FlushTicket) -> None:
        """Bring a ticket that nobody has begun to carry out up to the present end. On an OSError it
        is good for what it was good for before."""
        self.dirty_since_ms = -1
        self._changed = True
        for segment in self._unsynced:
            ticket.add_segment(segment)
        self._unsynced.clear()
        ticket.add_file(self.active.file)
        if self.epochs.changed:
            ticket.epoch_lines = self.epochs.encode()
            self.epochs.changed = False
        if not self._segment_synced:
            ticket.directories = [self.directory]
            if not self._directory_synced:
                ticket.directories.append(self.directory.rpartition("/")[0])
                metadata = f"{self.directory}/{names.PARTITION_METADATA}"
                if self.disk.exists(metadata):
                    ticket.add_file(self.cache.file(metadata))
            self._segment_synced = self._directory_synced = True
        ticket.end_offset = self.end_offset
        ticket.generation = self.generation

    def drop_unsynced(self, segments: list[Segment]) -> None:
        """These are gone: nobody waits for them any more."""
        self._unsynced = [segment for segment in self._unsynced if segment not in segments]

    def flush_done(self, ticket: FlushTicket) -> None:
        ticket.release()
        self.epochs.changed |= ticket.epochs_unwritten
        # Records that a truncation replaced meanwhile were not the ones that were synced.
        if ticket.generation == self.generation:
            self.recovery_point = max(self.recovery_point, ticket.end_offset)
            if self.on_flushed is not None:
                self.on_flushed(self)

    def flush_failed(self, ticket: FlushTicket) -> None:
        """After a failed sync the kernel may have dropped the pages: never try again."""
        ticket.release()

    def forget_after(self, offset: int) -> None:
        """The log was cut here: what was being synced behind it is no longer what is there."""
        self.generation += 1
        self._prepared = None
        self._changed = True
        self._segment_synced = False
        self.end_offset = offset
        self.recovery_point = min(self.recovery_point, offset)
        self.high_watermark = min(self.high_watermark, offset)

    def flush(self) -> None:
        """Sync here and now: for closing, and wherever waiting is wanted."""
        self._carry_out(self.flush_start())

    def _carry_out(self, ticket: FlushTicket) -> None:
        try:
            ticket.sync(self.disk)
        except OSError as error:
            self.flush_failed(ticket)
            self._fail(f"cannot sync {self.directory}: {error}", error)
        self.flush_done(ticket)

    def prepare_close(self) -> None:
        """Write what closing would write, so that one sync of the whole disk covers it."""
        if self._changed:
            self.active.seal()

    def close(self) -> None:
        """Leave everything such that the next opening has nothing to repair or replay."""
        ticket = self.close_start()
        if ticket is not None:
            self._carry_out(ticket)
        self.close_done()

    def close_start(self) -> FlushTicket | None:
        """Take no more appends, and say what has to be synced before `close_done`."""
        changed = self._changed or self.epochs.changed or self.unflushed_messages > 0
        if self.closed or not changed:
            self.closed = True
            return None
        self.closed = True
        self._unsynced.append(self.active)
        return self.flush_start()

    def close_done(self) -> None:
        self.take_snapshot(self.end_offset)
        self.release_files()

    def release_files(self) -> None:
        self.closed = True
        for segment in self.segments:
            segment.close()
