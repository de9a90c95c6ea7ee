"""The new segment of a group, written under `.cleaned` names and synced piece by piece."""

from __future__ import annotations

from penstock.records.header import NO_TIMESTAMP, BatchHeader, Buffer, parse_header
from penstock.storage import names
from penstock.storage.compaction.pace import Pace
from penstock.storage.file_cache import CachedFile, FileCache
from penstock.storage.segment import Segment
from penstock.storage.trash import remove_file

_WRITE_BYTES = 256 * 1024

_SYNC_BYTES = 4 * 1024 * 1024
"""A gigabyte synced at once would make every other sync on the disk wait for it."""


class CleanedSegment:
    def __init__(
        self,
        cache: FileCache,
        directory: str,
        base_offset: int,
        index_interval_bytes: int,
        pace: Pace,
    ) -> None:
        for kind in (names.LOG, names.INDEX, names.TIME_INDEX, names.TXN_INDEX):
            path = names.segment_path(directory, base_offset, kind, names.CLEANED)
            remove_file(cache.disk, path)
        self._cache = cache
        self._pace = pace
        self.segment = Segment(
            cache,
            directory,
            base_offset,
            size=0,
            created_ms=0,
            index_interval_bytes=index_interval_bytes,
            create=True,
            suffix=names.CLEANED,
        )
        self.segment.create_files()
        self._parts: list[Buffer] = []
        self._headers: list[BatchHeader] = []
        self._waiting_bytes = 0
        self._unsynced_bytes = 0

    def append(self, batch: Buffer) -> None:
        header = parse_header(batch)
        if not header.record_count:
            # Its time is its producer's alone: no record for the time index to lead to.
            header = header._replace(max_timestamp=NO_TIMESTAMP)
        self._parts.append(batch)
        self._headers.append(header)
        self._waiting_bytes += len(batch)
        if self._waiting_bytes >= _WRITE_BYTES:
            self._write()

    def finish(self) -> int:
        """Everything is on disk afterwards; the size of the segment."""
        self._write()
        self.segment.seal()
        txns = self.segment.txn_index.path
        files = [self.segment.file, self.segment.index.file, self.segment.time_index.file]
        if self._cache.disk.exists(txns):
            files.append(self._cache.file(txns))
        for file in files:
            self._sync(file)
        self.segment.close()
        self._cache.disk.fsync_dir(self.segment.directory)
        return self.segment.size

    def discard(self) -> None:
        self.segment.close()
        for path in self.segment.file_paths():
            remove_file(self._cache.disk, path)

    def _write(self) -> None:
        if not self._headers:
            return
        self.segment.append_many(b"".join(self._parts), self._headers)
        self._pace.spend(self._waiting_bytes)
        self._unsynced_bytes += self._waiting_bytes
        self._parts, self._headers, self._waiting_bytes = [], [], 0
        if self._unsynced_bytes >= _SYNC_BYTES:
            self._cache.disk.fdatasync(self.segment.file.open_fd())
            self._unsynced_bytes = 0

    def _sync(self, file: CachedFile) -> None:
        try:
            self._cache.disk.fdatasync(file.open_fd())
        finally:
            file.close()
