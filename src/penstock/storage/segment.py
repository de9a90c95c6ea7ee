"""One segment: a stretch of the log in one file, with its indexes.

Owns the file of batches, both sparse indexes and the transaction index, and what is known of
them in memory. An index is a hint: the batch it leads to has to be the one it names, or both
indexes are made anew. Knows no producers, no epochs and no other segment, and never decides when
to roll: it only says whether a limit is reached.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from itertools import chain, islice, takewhile
from typing import NamedTuple, TypeVar

from penstock.records.header import BATCH_OVERHEAD, BatchHeader, CorruptBatch
from penstock.records.time_search import find_timestamp
from penstock.storage import names
from penstock.storage.batch_walk import LOOKUP_BYTES, read_batch, verified_end, walk_batches
from penstock.storage.damage import IndexDamage
from penstock.storage.disk import Buffer, Disk, write_fully
from penstock.storage.file_cache import CachedFile, FileCache
from penstock.storage.index.offset import OffsetIndex
from penstock.storage.index.rebuild import RELATIVE_OFFSET_MAX as RELATIVE_OFFSET_MAX
from penstock.storage.index.rebuild import rebuild_indexes
from penstock.storage.index.time import TimeIndex
from penstock.storage.index.txn import TxnIndex

_logger = logging.getLogger(__name__)

NO_TAIL = 1 << 63

LOST_BYTES = 4 << 20
"""With so many bytes between an entry and what was asked for, entries are missing."""

_Answer = TypeVar("_Answer")
_Batches = Iterator[tuple[int, BatchHeader]]
Search = Callable[[bytes, int, int], tuple[int, int] | None]
"""(batch, time, offset) -> offset and time of the first record in the batch from there on."""


class Found(NamedTuple):
    """A batch in a segment."""

    position: int
    size: int
    base_offset: int
    last_offset: int


class Segment:
    __slots__ = (
        "_pwrite",
        "base_offset",
        "bytes_since_index",
        "created_ms",
        "directory",
        "disk",
        "entry_count",
        "file",
        "first_timestamp",
        "index",
        "index_interval_bytes",
        "indexes_anew",
        "max_timestamp",
        "max_timestamp_offset",
        "size",
        "tail_base",
        "tail_last",
        "tail_position",
        "tail_size",
        "time_index",
        "txn_index",
        "verified_from",
        "verified_to",
    )

    def __init__(
        self,
        cache: FileCache,
        directory: str,
        base_offset: int,
        *,
        size: int,
        created_ms: int,
        index_interval_bytes: int,
        create: bool = False,
        suffix: str = "",
    ) -> None:
        self.disk: Disk = cache.disk
        self._pwrite = cache.disk.pwrite
        self.directory = directory
        self.base_offset = base_offset
        self.size = size
        self.created_ms = created_ms
        self.index_interval_bytes = index_interval_bytes
        path = names.segment_path(directory, base_offset, names.LOG, suffix)
        self.file: CachedFile = cache.file(path, create=create)
        index_path = names.segment_path(directory, base_offset, names.INDEX, suffix)
        self.index = OffsetIndex(cache, index_path, base_offset, None if size else 0)
        time_path = names.segment_path(directory, base_offset, names.TIME_INDEX, suffix)
        self.time_index = TimeIndex(cache, time_path, base_offset, None if size else 0)
        txn_path = names.segment_path(directory, base_offset, names.TXN_INDEX, suffix)
        self.txn_index = TxnIndex(cache, txn_path, checked=size == 0)
        # Made anew in this process's lifetime: what still does not fit is damage of the batches.
        self.indexes_anew = False
        self.bytes_since_index = 0
        # None: not known yet, read from the file when somebody asks.
        self.first_timestamp: int | None = -1 if size == 0 else None
        self.max_timestamp: int | None = -1 if size == 0 else None
        self.max_timestamp_offset = base_offset
        # The batch appended last: most reads of a live topic want exactly that one.
        self.tail_base = NO_TAIL
        self.tail_last = self.tail_position = self.tail_size = 0
        # Entries of the fuller index, as far as known: what `prepare_append` makes sure of.
        self.entry_count = 0
        # Batches between these positions had a right checksum in this process's lifetime.
        self.verified_from = self.verified_to = size

    @property
    def path(self) -> str:
        return self.file.path

    def create_files(self) -> None:
        """Only the file of batches: the indexes get theirs with the first entry, or when the
        segment is sealed. Creating files is most of what a new partition costs."""
        self.file.open_fd()

    def prepare_append(self) -> None:
        """Load what appending compares against."""
        self.entry_count = self._by_index(self._hold_entries)
        self.load_first_timestamp()
        if self.max_timestamp is None:
            self.load_max_timestamp()

    def append(
        self, data: Buffer, size: int, base_offset: int, last_offset: int, max_timestamp: int
    ) -> None:
        """Write one batch at the end; on an error the file is cut back to what it was."""
        position = self.size
        file = self.file
        file.recently_used = True
        fd = file.fd
        if fd < 0:
            fd = file.open_fd()
        try:
            written = self._pwrite(fd, data, position)
            if written != size:
                write_fully(self.disk, fd, memoryview(data)[written:], position + written)
        except OSError:
            self.disk.ftruncate(fd, position)
            raise
        if self.verified_to == position:
            self.verified_to = position + size
        self.note_batch(position, size, base_offset, last_offset, max_timestamp)

    def append_many(self, data: Buffer, headers: list[BatchHeader]) -> None:
        """Write several whole batches at once, as replication brings them."""
        position = self.size
        try:
            write_fully(self.disk, self.file.open_fd(), data, position)
        except OSError:
            self.disk.ftruncate(self.file.open_fd(), position)
            raise
        if self.verified_to == position:
            self.verified_to = position + len(data)
        for h in headers:
            self.note_batch(self.size, h.size, h.base_offset, h.last_offset, h.max_timestamp)

    def note_batch(
        self, position: int, size: int, base_offset: int, last_offset: int, max_timestamp: int
    ) -> None:
        """Account for a batch that stands at the end of the file."""
        if position == 0:
            self.first_timestamp = max_timestamp
        known = self.max_timestamp
        if known is None:
            known = self.load_max_timestamp()
        if max_timestamp > known:
            self.max_timestamp = known = max_timestamp
            self.max_timestamp_offset = last_offset
        if self.bytes_since_index > self.index_interval_bytes:
            self.index.append(last_offset, position)
            self.time_index.append_if_later(known, self.max_timestamp_offset)
            self.bytes_since_index = 0
            self.entry_count = self.index.count
        self.bytes_since_index += size
        self.size = position + size
        self.tail_position = position
        self.tail_size = size
        self.tail_base = base_offset
        self.tail_last = last_offset

    def find(self, offset: int) -> Found | None:
        """The first batch whose last offset is not below the offset."""
        base = self.tail_base
        if offset >= base:
            if offset > self.tail_last:
                return None
            return Found(self.tail_position, self.tail_size, base, self.tail_last)
        return self._by_index(lambda: self._find(offset))

    def _find(self, offset: int) -> Found | None:
        start, batches = self._batches_for(offset)
        for position, header in batches:
            if header.last_offset >= offset:
                if header.base_offset > offset:
                    self._check_passed(start, position)
                return Found(position, header.size, header.base_offset, header.last_offset)
            self._check_reach(position - start)
        self._check_passed(start, self.size)
        return None

    def _check_passed(self, start: int, end: int) -> None:
        """No batch claims the offset. Compaction leaves such gaps, but a damaged header that
        lies about its offsets would do the same, and must not hide its records."""
        if self.verify(start, end) < end:
            self.verify(self.verified_to, end)

    def verify(self, start: int, end: int) -> int:
        """How far the stretch may be served: to its end, or to where whole batches with right
        checksums end. Each stretch is read once for this; what we wrote ourselves, never."""
        if self.verified_from <= start and end <= self.verified_to:
            return end
        reached, damage = verified_end(self.disk, self.file.open_fd(), start, end)
        if damage is not None and reached == start:
            raise damage
        if self.verified_from <= start <= self.verified_to:
            self.verified_to = max(reached, self.verified_to)
        else:
            self.verified_from, self.verified_to = start, reached
        return reached if damage is not None or reached > start else end

    def verify_whole(self) -> None:
        """CorruptBatch unless every batch is whole, right and in order."""
        expected = self.base_offset
        for position, header in self._walk(0):
            if header.base_offset < expected:
                raise CorruptBatch(f"{self.path}: offset {header.base_offset} after {expected - 1}")
            read_batch(self.disk, self.file.open_fd(), position, header)
            expected = header.next_offset

    def has_gap_at_end(self) -> bool:
        """Whether the last batch does not begin where the one before it ends."""
        expected, gap = self.base_offset, 0
        for _, header in self._walk(0):
            gap = header.base_offset - expected
            expected = header.next_offset
        return gap != 0

    def next_offset(self) -> int:
        """The offset behind the last batch, found through the index."""
        if self.tail_base == NO_TAIL and not self._find_tail():
            return self.base_offset
        return self.tail_last + 1

    def _find_tail(self) -> bool:
        found = self._by_index(self._last_batch)
        if found is None:
            return False
        # The next append builds on this: make sure that it is not a damaged header speaking.
        position, header = found
        self.verify(position, self.size)
        self.tail_position, self.tail_size = position, header.size
        self.tail_base, self.tail_last = header.base_offset, header.last_offset
        return True

    def last_header(self) -> BatchHeader | None:
        if self.tail_base == NO_TAIL and not self._find_tail():
            return None
        return next(self._walk(self.tail_position, LOOKUP_BYTES))[1]

    def _last_batch(self) -> tuple[int, BatchHeader] | None:
        start, batches = self._batches_from(self.index.last(), 64 * 1024)
        found = None
        for found in batches:
            self._check_reach(found[0] - start)
        return found

    def load_max_timestamp(self) -> int:
        """From the time index, whose last entry a sealed segment makes the largest one, and from
        the batches behind that entry: retention must not go by an index that lost its end."""
        timestamp, offset = self._by_index(self._max_timestamp)
        self.max_timestamp, self.max_timestamp_offset = timestamp, offset
        return timestamp

    def _max_timestamp(self) -> tuple[int, int]:
        timestamp, offset = self._checked_time(self.time_index.last())
        known = timestamp
        start, batches = self._batches_for(offset)
        for position, header in batches:
            if header.record_count and header.max_timestamp > timestamp:
                timestamp, offset = header.max_timestamp, header.last_offset
            if 0 <= known == timestamp and position - start > LOST_BYTES:
                break
        return timestamp, offset

    def largest_timestamp_ms(self) -> int:
        """For retention: of the records, or of the file where no record has one."""
        timestamp = self.load_max_timestamp() if self.max_timestamp is None else self.max_timestamp
        return timestamp if timestamp >= 0 else self.modified_ms()

    def modified_ms(self) -> int:
        return self.disk.stat(self.path).st_mtime_ns // 1_000_000

    def load_first_timestamp(self) -> int:
        if self.first_timestamp is None:
            first = next(self._walk(0, LOOKUP_BYTES), None)
            self.first_timestamp = first[1].max_timestamp if first else -1
        return self.first_timestamp

    def find_timestamp(
        self, timestamp: int, start_offset: int, search: Search = find_timestamp
    ) -> tuple[int, int] | None:
        """(offset, time) of the first record at or behind the offset that is not older."""
        return self._by_index(lambda: self._find_timestamp(timestamp, start_offset, search))

    def _find_timestamp(
        self, timestamp: int, start_offset: int, search: Search
    ) -> tuple[int, int] | None:
        # From the entry before: then a wrong offset in this one leads nobody past a record.
        entry = self.time_index.floor(timestamp)
        before = self.time_index.floor(entry[0] - 1) if entry else None
        offset = max(self._checked_time(before)[1], start_offset)
        for position, header in self._batches_for(offset)[1]:
            if header.max_timestamp >= timestamp and header.last_offset >= start_offset:
                batch = read_batch(self.disk, self.file.open_fd(), position, header)
                found = search(batch, timestamp, start_offset)
                if found is not None:
                    return found
        return None

    def header_at(self, position: int) -> BatchHeader:
        """Of the batch that begins there."""
        return next(self._walk(position, BATCH_OVERHEAD))[1]

    def batches(self, start: int = 0) -> Iterator[tuple[int, BatchHeader]]:
        return self._walk(start)

    def batches_before(self, offset: int, count_max: int) -> list[tuple[int, BatchHeader]]:
        """The last stretch of batches that end before the offset, as long as entries of the index
        lie apart. None if there are more of them than that, or none."""
        return self._by_index(lambda: self._batches_before(offset, count_max))

    def _batches_before(self, offset: int, count_max: int) -> list[tuple[int, BatchHeader]]:
        _, batches = self._batches_for(offset - 1)
        before = takewhile(lambda each: each[1].last_offset < offset, batches)
        stretch = list(islice(before, count_max + 1))
        return stretch if len(stretch) <= count_max else []

    def truncate(self, position: int, offset: int, now_ms: int) -> int:
        """Drop what stands behind the position, where the offset is due; how many bytes went."""
        before = self.size
        self._by_index(self._count_entries)
        for index in (self.index, self.time_index):
            index.truncate(offset)
        self.txn_index.truncate(offset)
        if position < before:
            self.disk.ftruncate(self.file.open_fd(), position)
            self.size = position
        self.tail_base = NO_TAIL
        self.verified_to = min(self.verified_to, self.size)
        self.verified_from = min(self.verified_from, self.verified_to)
        self.bytes_since_index = 0
        self.load_max_timestamp()
        if self.size == 0:
            self.created_ms, self.first_timestamp = now_ms, -1
        return before - self.size

    def seal(self) -> None:
        """No more appends for now: complete the indexes and hold them no longer."""
        if self.max_timestamp is not None and self.max_timestamp >= 0:
            self.time_index.append_if_later(self.max_timestamp, self.max_timestamp_offset)
        self.index.release()
        self.time_index.release()

    def close(self) -> None:
        self.file.close()
        self.index.close()
        self.time_index.close()

    def file_paths(self) -> list[str]:
        """The batches last: while they are there, the rest can be rebuilt."""
        paths = [self.index.path, self.time_index.path, self.txn_index.path, self.path]
        return [path for path in paths if self.disk.exists(path)]

    def rename_suffix(self, old: str, new: str) -> None:
        """Readers that hold the file open go on reading it."""
        for path in self.file_paths():
            self.disk.rename(path, path.removesuffix(old) + new)
        self.file.retire()
        self.file.path = self.path.removesuffix(old) + new
        for index in (self.index, self.time_index):
            index.moved(index.path.removesuffix(old) + new)
        self.txn_index.path = self.txn_index.path.removesuffix(old) + new

    # --- the indexes as hints -------------------------------------------------------------

    def forget(self) -> None:
        """Nothing is known of the file, and the indexes are empty: each batch is noted again."""
        self.index.reset()
        self.time_index.reset()
        self.size = self.bytes_since_index = 0
        self.max_timestamp = self.first_timestamp = -1
        self.max_timestamp_offset = self.base_offset
        self.verified_from = self.verified_to = 0
        self.indexes_anew = True
        self.forget_tail()

    def forget_tail(self) -> None:
        self.tail_base = NO_TAIL

    def _by_index(self, ask: Callable[[], _Answer]) -> _Answer:
        try:
            return ask()
        except IndexDamage as damage:
            _logger.warning("the indexes of %s are made anew: %s", self.path, damage)
            rebuild_indexes(self)
            self.entry_count = max(self.index.count, self.time_index.count)
        try:
            return ask()
        except IndexDamage as damage:
            raise CorruptBatch(f"{self.path} is damaged: {damage}") from damage

    def _batches_for(self, offset: int) -> tuple[int, _Batches]:
        """Where the walk for an offset begins, and the batches from there."""
        return self._batches_from(self.index.floor(offset - self.base_offset), LOOKUP_BYTES)

    def _batches_from(
        self, entry: tuple[int, int] | None, chunk_bytes: int
    ) -> tuple[int, _Batches]:
        if entry is None:
            return 0, self._walk(0, chunk_bytes)
        key, start = entry
        if not 0 <= start < self.size:
            raise IndexDamage(f"{self.index.path} leads out of its segment")
        batches = self._walk(start, chunk_bytes)
        try:
            first = next(batches)
        except CorruptBatch:
            if self.indexes_anew:
                raise
            raise IndexDamage(f"{self.index.path} leads to no batch") from None
        # An entry of Kafka's may name the last of several batches written at once.
        if first[1].base_offset - self.base_offset > key:
            raise IndexDamage(f"{self.index.path} leads to another batch")
        return start, chain((first,), batches)

    def _checked_time(self, entry: tuple[int, int] | None) -> tuple[int, int]:
        """(timestamp, offset) of an entry of the time index, if the batch there has that time."""
        if entry is None:
            return -1, self.base_offset
        timestamp, offset = entry[0], entry[1] + self.base_offset
        found = self._find(offset)
        if found is None or found.base_offset > offset:
            raise IndexDamage(f"{self.time_index.path} leads to no batch")
        _, header = next(self._walk(found.position, LOOKUP_BYTES))
        if header.max_timestamp != timestamp:
            raise IndexDamage(f"{self.time_index.path} leads to a batch of another time")
        return timestamp, offset

    def _check_reach(self, passed_bytes: int) -> None:
        """After so many bytes there must have been an entry, were the index whole."""
        if passed_bytes > LOST_BYTES + 64 * self.index_interval_bytes and not self.indexes_anew:
            raise IndexDamage(f"{self.index.path} lacks entries")

    def _hold_entries(self) -> int:
        count = self._count_entries()
        self.index.hold()
        self.time_index.hold()
        return count

    def _count_entries(self) -> int:
        count = max(self.index.count, self.time_index.count)
        if count > self.size // BATCH_OVERHEAD + 1:
            raise IndexDamage(f"{self.index.path} has more entries than there are batches")
        return count

    def _walk(self, start: int, chunk_bytes: int = 64 * 1024) -> Iterator[tuple[int, BatchHeader]]:
        return walk_batches(self.disk, self.file.open_fd(), start, self.size, chunk_bytes)
