"""Walking the batch headers of a segment file without reading what stands between them."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.records.header import (
    BATCH_OVERHEAD,
    LOG_OVERHEAD,
    MAGIC_V2,
    BatchHeader,
    CorruptBatch,
    compute_crc,
    parse_header,
)
from penstock.storage.disk import Disk

LOOKUP_BYTES = 8 * 1024
"""About two index intervals: one read finds most batches that an index look-up led close to."""

SCAN_BYTES = 256 * 1024


def walk_batches(
    disk: Disk, fd: int, start: int, end: int, chunk_bytes: int = SCAN_BYTES
) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each batch; CorruptBatch where the bytes are no whole batch."""
    position, chunk, chunk_start = start, b"", start
    while position < end:
        at = position - chunk_start
        if at + BATCH_OVERHEAD > len(chunk):
            chunk = disk.pread(fd, min(chunk_bytes, end - position), position)
            chunk_start, at = position, 0
            if len(chunk) < BATCH_OVERHEAD:
                raise CorruptBatch(f"{end - position} bytes at position {position} are no batch")
        header = parse_header(chunk, at)
        size = header.batch_length + LOG_OVERHEAD
        if header.magic != MAGIC_V2 or size < BATCH_OVERHEAD or size > end - position:
            raise CorruptBatch(f"no whole batch at position {position}")
        yield position, header
        position += size


def read_batch(disk: Disk, fd: int, position: int, header: BatchHeader) -> bytes:
    """The whole batch, its checksum verified."""
    data = disk.pread(fd, header.size, position)
    if len(data) < header.size or compute_crc(data, 0, header.size) != header.crc:
        raise CorruptBatch(
            f"batch at position {position} (offset {header.base_offset}) fails its checksum"
        )
    return data


def verified_end(disk: Disk, fd: int, start: int, end: int) -> tuple[int, CorruptBatch | None]:
    """How far whole batches with right checksums reach, and what is wrong behind them, if that
    is not just the cut-off at `end`."""
    data = disk.pread(fd, end - start, start)
    position, limit, expected, before = 0, len(data), -1, 0
    while limit - position >= BATCH_OVERHEAD:
        header = parse_header(data, position)
        size = header.batch_length + LOG_OVERHEAD
        if header.magic != MAGIC_V2 or size < BATCH_OVERHEAD:
            return start + position, CorruptBatch(f"no batch at position {start + position}")
        if size > limit - position:
            break
        if compute_crc(data, position, size) != header.crc:
            message = f"batch at position {start + position} (offset {header.base_offset})"
            return start + position, CorruptBatch(f"{message} fails its checksum")
        if header.base_offset < expected:
            # The checksum does not cover the offset: only its neighbours give it away. Which of
            # the two is wrong cannot be told, so that neither is good.
            message = f"batch at position {start + position} claims offset {header.base_offset}"
            return start + before, CorruptBatch(f"{message} before {expected}")
        before = position
        position += size
        expected = header.next_offset
    return start + position, None
