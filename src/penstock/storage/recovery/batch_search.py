"""Finding whole batches again behind a damaged stretch of a segment.

Lengths lead from batch to batch, so that one damaged length hides all that follow. Here they are
looked for: by what a header must look like, by offsets that can follow, and by the checksum. Reads
no further than it is told to; what it finds it never repairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.records.header import (
    BATCH_OVERHEAD,
    LOG_OVERHEAD,
    MAGIC_V2,
    BatchHeader,
    CorruptBatch,
    parse_header,
)
from penstock.storage.batch_walk import read_batch, walk_batches
from penstock.storage.disk import Disk

SEARCH_BYTES_MAX = 64 << 20
"""Of one segment, in which no batch is found: a file may claim to be larger than its disk."""

_CHUNK_BYTES = 1 << 20
_ATTRIBUTES_MAX = 0x7F
_MAGIC_AT = 16
_MARK = re.compile(b"\\x02[\\x00-\\xff]{4}\\x00")
"""The number of the format and, behind the checksum, the first half of the attributes."""


def search_batch(
    disk: Disk, fd: int, start: int, end: int, offset_min: int, offset_max: int
) -> tuple[int, BatchHeader] | None:
    """The first whole batch with a right checksum, of offsets within the given ones."""
    end_of_search = min(end, start + SEARCH_BYTES_MAX)
    shared = _shared_bytes(offset_min, offset_max)
    while start + BATCH_OVERHEAD <= end_of_search:
        chunk = disk.pread(fd, min(_CHUNK_BYTES, end - start), start)
        if len(chunk) < BATCH_OVERHEAD:
            return None
        for at in _candidates(chunk, shared):
            header, position = parse_header(chunk, at), start + at
            if _fits(header, end - position, offset_min, offset_max) and _is_right(
                disk, fd, position, header
            ):
                return position, header
        start += len(chunk) - BATCH_OVERHEAD + 1
    return None


def _candidates(chunk: bytes, shared: bytes) -> Iterator[int]:
    """Where a header may begin: few places, found without a look at each byte."""
    match = _MARK.search(chunk, _MAGIC_AT)
    while match is not None:
        at = match.start() - _MAGIC_AT
        if at + BATCH_OVERHEAD > len(chunk):
            return
        if chunk.startswith(shared, at):
            yield at
        match = _MARK.search(chunk, match.start() + 1)


def _shared_bytes(offset_min: int, offset_max: int) -> bytes:
    """The first bytes of all offsets between the two."""
    low, high = offset_min.to_bytes(8, "big"), offset_max.to_bytes(8, "big")
    shared = next((at for at in range(8) if low[at] != high[at]), 8)
    return low[:shared]


def walk_past_damage(
    disk: Disk, fd: int, start: int, end: int, offset_min: int, offset_max: int
) -> Iterator[tuple[int, BatchHeader]]:
    """Every batch that can be found: in a row as far as that goes, searched for behind it."""
    position = start
    while position < end:
        try:
            for at, header in walk_batches(disk, fd, position, end):
                position = at
                if not _fits(header, end - at, offset_min, offset_max):
                    raise CorruptBatch(f"no batch that follows at position {at}")
                read_batch(disk, fd, at, header)
                yield at, header
                offset_min = header.next_offset
                position = at + header.size
            return
        except CorruptBatch:
            found = search_batch(disk, fd, position + 1, end, offset_min, offset_max)
            if found is None:
                return
            position = found[0]


def _fits(header: BatchHeader, room: int, offset_min: int, offset_max: int) -> bool:
    return (
        header.magic == MAGIC_V2
        and BATCH_OVERHEAD <= header.batch_length + LOG_OVERHEAD <= room
        and 0 <= header.attributes <= _ATTRIBUTES_MAX
        and offset_min <= header.base_offset <= header.last_offset <= offset_max
        and 0 <= header.record_count <= header.last_offset_delta + 1
    )


def _is_right(disk: Disk, fd: int, position: int, header: BatchHeader) -> bool:
    try:
        read_batch(disk, fd, position, header)
    except CorruptBatch:
        return False
    return True
