"""Carrying out a compaction job: learn the keys of the dirty part, then write new segments.

Reads and writes only the files that the job names, never a live log, so that it can run in
another process. New segments are handed out one by one, in order, each complete: what is in
place then is a compacted beginning of the log and its old rest, which is right at any moment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from penstock.model.error import ApiError
from penstock.records.header import BatchHeader
from penstock.storage import names
from penstock.storage.compaction.filter import BatchFilter
from penstock.storage.compaction.job import (
    CleanedGroup,
    CompactionDone,
    CompactionJob,
    CompactionStats,
    SourceSegment,
)
from penstock.storage.compaction.key_map import KeyMap
from penstock.storage.compaction.output import CleanedSegment
from penstock.storage.compaction.pace import Pace
from penstock.storage.compaction.read import SourceReader, read_spans
from penstock.storage.compaction.txn import TxnTracker
from penstock.storage.disk import Disk, RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.index.txn import AbortedTxn
from penstock.storage.segment import RELATIVE_OFFSET_MAX

Group = list[SourceSegment]

_OPEN_FILES_MAX = 16


class Compaction:
    def __init__(self, job: CompactionJob, disk: Disk, pace: Pace | None = None) -> None:
        self._job = job
        self._disk = disk
        self._pace = pace or Pace(job.io_bytes_per_second)
        self._cache = FileCache(disk, _OPEN_FILES_MAX)
        self._reader = SourceReader(self._cache, job.directory, self._pace)
        self.stats = CompactionStats()

    def run(self) -> Iterator[CleanedGroup | CompactionDone]:
        """OSError and ApiError (unreadable segment) come out as they are; whatever has not been
        handed out is then half written under `.cleaned` names."""
        try:
            keys, end_offset = self._map_keys()
            txns = self._txns()
            batch_filter = BatchFilter(self._job, keys, end_offset, txns, self.stats)
            for group in self._groups(end_offset):
                cleaned = self._clean(group, batch_filter, txns)
                if cleaned is not None:
                    yield cleaned
            self.stats.bytes_read = self._reader.bytes_read
            yield CompactionDone(end_offset, self.stats)
        finally:
            self._cache.close_all()

    def _txns(self) -> TxnTracker:
        return TxnTracker(AbortedTxn(*fields) for fields in self._job.aborted)

    # --- keys -----------------------------------------------------------------------------

    def _map_keys(self) -> tuple[KeyMap, int]:
        """The last offset of each key in the dirty part, and how far the map reaches."""
        job, txns = self._job, self._txns()
        keys = KeyMap(job.key_map_bytes, max(job.bound - job.first_dirty, 0))
        end = job.first_dirty
        for slot, segment in enumerate(job.segments):
            segment_end = self._base_behind(slot)
            if segment_end <= job.first_dirty:
                continue
            self._reader.sync(segment)
            for header, batch in self._reader.batches(segment, job.first_dirty):
                fits = self._map_batch(header, batch, keys, txns)
                # A batch with more keys than there is room for would stop all rounds to come.
                if not fits and end > job.first_dirty:
                    self.stats.is_map_full = True
                    break
                end = max(end, header.next_offset)
            if self.stats.is_map_full:
                break
            end = max(end, segment_end)
        self._disk.fsync_dir(job.directory)
        self.stats.keys, self.stats.key_map_bytes = keys.count, keys.size_bytes
        return keys, end

    def _map_batch(self, header: BatchHeader, batch: bytes, keys: KeyMap, txns: TxnTracker) -> bool:
        """Whether all of its keys found room."""
        try:
            if header.is_control:
                txns.is_spent(batch, header)
                return True
            if txns.is_aborted(header):
                return True
            _, spans = read_spans(header, batch)
        except ApiError:
            return True  # it will be kept as it is, and counted, when it is filtered
        first_dirty = self._job.first_dirty
        for offset, key, _, _, _, _ in spans:
            if key is not None and offset >= first_dirty:
                if keys.is_full:
                    return False
                keys.put(key, offset)
        return True

    # --- segments -------------------------------------------------------------------------

    def _clean(
        self, group: Group, batch_filter: BatchFilter, txns: TxnTracker
    ) -> CleanedGroup | None:
        """None if there is nothing to replace: one segment, of which everything stays."""
        job = self._job
        base = group[0].base_offset
        output = CleanedSegment(
            self._cache, job.directory, base, job.index_interval_bytes, self._pace
        )
        txns.sink = output.segment.txn_index
        left = sum(segment.size for segment in group)
        changed = len(group) > 1
        for segment in group:
            for header, batch in self._reader.batches(segment):
                left -= len(batch)
                kept = batch_filter.filter(header, batch, is_last=left == 0)
                changed |= kept is not batch
                if kept is not None:
                    output.append(kept)
        if not changed:
            output.discard()
            return None
        size = output.finish()
        self._keep_modified_time(output.segment.path, group[-1])
        self.stats.bytes_written += size
        return CleanedGroup([segment.base_offset for segment in group], size)

    def _keep_modified_time(self, path: str, last: SourceSegment) -> None:
        """Retention goes by it where records carry no time. Only real disks keep one."""
        if isinstance(self._disk, RealDisk):
            source = names.segment_path(self._job.directory, last.base_offset, names.LOG)
            modified_ns = self._disk.stat(source).st_mtime_ns
            os.utime(path, ns=(modified_ns, modified_ns))

    def _groups(self, end_offset: int) -> list[Group]:
        """Neighbours that fit into one segment together, by bytes, index entries and offsets."""
        groups: list[Group] = []
        sizes = (0, 0, 0)
        for slot, segment in enumerate(self._job.segments):
            if segment.base_offset >= end_offset:
                break
            added = (segment.size, self._size(segment, names.INDEX), self._size_of_times(segment))
            total = tuple(map(sum, zip(sizes, added, strict=True)))
            if groups and self._fits(groups[-1], segment, slot, total):
                groups[-1].append(segment)
                sizes = (total[0], total[1], total[2])
            else:
                groups.append([segment])
                sizes = added
        return groups

    def _fits(
        self, group: Group, segment: SourceSegment, slot: int, total: tuple[int, ...]
    ) -> bool:
        job = self._job
        reach = self._base_behind(slot) - 1 - group[0].base_offset
        return (
            total[0] <= job.segment_bytes
            and total[1] <= job.segment_index_bytes
            and total[2] <= job.segment_index_bytes
            and (segment.size == 0 or reach <= RELATIVE_OFFSET_MAX)
        )

    def _base_behind(self, slot: int) -> int:
        segments = self._job.segments
        return segments[slot + 1].base_offset if slot + 1 < len(segments) else self._job.bound

    def _size_of_times(self, segment: SourceSegment) -> int:
        return self._size(segment, names.TIME_INDEX)

    def _size(self, segment: SourceSegment, kind: str) -> int:
        path = names.segment_path(self._job.directory, segment.base_offset, kind)
        return self._disk.stat(path).st_size if self._disk.exists(path) else 0
