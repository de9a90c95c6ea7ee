"""Reading whole batches of the segments to be compacted, in order and at a pace."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.records.header import (
    BATCH_OVERHEAD,
    MAGIC_V2,
    BatchHeader,
    Buffer,
    CorruptBatch,
    compute_crc,
    parse_header,
)
from penstock.records.record import RecordSpan, iter_keys, read_body
from penstock.storage import names
from penstock.storage.compaction.job import SourceSegment
from penstock.storage.compaction.pace import Pace
from penstock.storage.damage import IndexDamage
from penstock.storage.file_cache import FileCache
from penstock.storage.index.offset import OffsetIndex

CHUNK_BYTES = 1024 * 1024

BODY_BYTES_MAX = 64 * 1024 * 1024
RECORDS_MAX = 500_000
"""A batch beyond these limits is kept as it is: a small one may unfold into all of the memory."""


class SourceReader:
    def __init__(self, cache: FileCache, directory: str, pace: Pace) -> None:
        self._cache = cache
        self._directory = directory
        self._pace = pace
        self.bytes_read = 0

    def sync(self, segment: SourceSegment) -> None:
        """A record goes because of a later one, so that one must have reached the disk."""
        file = self._cache.file(self._path(segment))
        try:
            self._cache.disk.fdatasync(file.open_fd())
        finally:
            file.close()

    def batches(
        self, segment: SourceSegment, start_offset: int = 0
    ) -> Iterator[tuple[BatchHeader, bytes]]:
        """CorruptBatch where even the headers make no sense: there is no way past that."""
        position = self._position(segment, start_offset)
        file = self._cache.file(self._path(segment))
        fd = file.pin()
        try:
            while position < segment.size:
                chunk = self._read(fd, position, segment.size, CHUNK_BYTES)
                used = 0
                for header, batch in _whole_batches(chunk, segment.size - position):
                    yield header, batch
                    used += len(batch)
                if not used:
                    header = parse_header(chunk)
                    yield header, self._read(fd, position, segment.size, header.size)
                    used = header.size
                position += used
        finally:
            file.unpin()
            file.close()

    def _read(self, fd: int, position: int, end: int, length: int) -> bytes:
        length = min(length, end - position)
        data = self._cache.disk.pread(fd, length, position)
        if len(data) < length or length < BATCH_OVERHEAD:
            raise CorruptBatch(f"{end - position} bytes at position {position} are no batch")
        self.bytes_read += length
        self._pace.spend(length)
        return data

    def _position(self, segment: SourceSegment, offset: int) -> int:
        if offset <= segment.base_offset:
            return 0
        path = names.segment_path(self._directory, segment.base_offset, names.INDEX)
        if not self._cache.disk.exists(path):
            return 0
        index = OffsetIndex(self._cache, path, segment.base_offset, None)
        try:
            return index.position_before(offset)
        except IndexDamage:
            return 0  # the broker makes it anew when it meets it
        finally:
            index.close()

    def _path(self, segment: SourceSegment) -> str:
        return names.segment_path(self._directory, segment.base_offset, names.LOG)


def _whole_batches(chunk: bytes, available: int) -> Iterator[tuple[BatchHeader, bytes]]:
    at = 0
    while at + BATCH_OVERHEAD <= len(chunk):
        header = parse_header(chunk, at)
        size = header.size
        if header.magic != MAGIC_V2 or size < BATCH_OVERHEAD or size > available - at:
            raise CorruptBatch(f"no whole batch behind offset {header.base_offset}")
        if at + size > len(chunk):
            return
        yield header, chunk[at : at + size]
        at += size


def read_spans(header: BatchHeader, batch: bytes) -> tuple[Buffer, list[RecordSpan]]:
    """Body and records of a batch; ApiError for one that is damaged, malformed or too large."""
    if header.record_count > RECORDS_MAX:
        raise CorruptBatch(f"batch of {header.record_count} records is too large to be opened")
    if compute_crc(batch, 0, len(batch)) != header.crc:
        raise CorruptBatch("batch fails its checksum")
    body = read_body(batch, header, BODY_BYTES_MAX)
    return body, list(iter_keys(header, body))
