"""Of a batch, the first record that is as late as a point in time, or the time of one record.

A compressed batch is read as a stream, and of each record only the first bytes: a batch that
unfolds into very much costs time, and no memory. How long that takes is for the caller to mind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.records.compression import NONE
from penstock.records.decompression import iter_pieces
from penstock.records.header import (
    BATCH_OVERHEAD,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    BatchHeader,
    Buffer,
    InvalidRecord,
)
from penstock.records.record import read_header, read_varint

_HEAD_BYTES_MAX: Final = 31
"""Length, attributes, and the deltas of time and offset; each number takes ten bytes at most."""
_QUICK_RECORDS_MAX: Final = 1000


def is_quick(header: BatchHeader) -> bool:
    """Whether a look into the batch takes less than a few milliseconds."""
    return header.codec == NONE and header.record_count <= _QUICK_RECORDS_MAX


def header_time(header: BatchHeader, offset: int, within_ms: int = 0) -> int | None:
    """The time of the record at the offset, or of the first behind it, so far as the header tells:
    of the first record, where the broker sets times, and where all are within so many ms."""
    if header.timestamp_type == LOG_APPEND_TIME:
        return header.max_timestamp
    if header.delete_horizon_ms is not None:
        return None
    is_near = header.max_timestamp - header.base_timestamp <= within_ms
    return header.base_timestamp if offset <= header.base_offset or is_near else None


def time_at(batch: Buffer, offset: int) -> int | None:
    """The time of the record at the offset, or of the first behind it in the batch."""
    found = find_timestamp(batch, NO_TIMESTAMP, offset)
    return None if found is None else found[1]


def find_timestamp(batch: Buffer, timestamp: int, offset: int = 0) -> tuple[int, int] | None:
    """Offset and time of the first record at or behind `offset` that is not older."""
    header = read_header(batch)
    body = memoryview(batch)[BATCH_OVERHEAD : header.size]
    for found_offset, found_timestamp in _iter_times(header, body):
        if found_timestamp >= timestamp and found_offset >= offset:
            return found_offset, found_timestamp
    return None


def _iter_times(header: BatchHeader, body: memoryview) -> Iterator[tuple[int, int]]:
    pieces = iter_pieces(header.codec, body)
    append_time = header.max_timestamp if header.timestamp_type == LOG_APPEND_TIME else None
    rest, skip, left = b"", 0, header.record_count
    while left:
        piece = next(pieces, None)
        # The last head may be shorter than the longest one.
        data = rest + (bytes(_HEAD_BYTES_MAX) if piece is None else piece)
        end = len(rest) if piece is None else len(data)
        pos = 0
        while left:
            step = min(skip, end - pos)
            pos += step
            skip -= step
            if pos >= end or (piece is not None and end - pos < _HEAD_BYTES_MAX):
                break
            length, start = read_varint(data, pos)
            timestamp_delta, pos = read_varint(data, start + 1)
            offset_delta, pos = read_varint(data, pos)
            skip = start + length - pos
            if skip < 0 or not 0 <= offset_delta <= header.last_offset_delta:
                raise InvalidRecord("a record does not hold its own fields")
            left -= 1
            timestamp = header.base_timestamp + timestamp_delta
            offset = header.base_offset + offset_delta
            yield offset, timestamp if append_time is None else append_time
        if piece is None and left:
            raise InvalidRecord(f"batch ends {left} records too early")
        rest = data[pos:]
