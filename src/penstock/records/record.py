"""Reading the records inside one batch.

Off the hot path on purpose: compaction, the metadata log and tools come here. Whatever the bytes
are, the only thing raised is an ApiError.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.records.compression import DECOMPRESSED_BYTES_MAX, decompress
from penstock.records.header import (
    BATCH_OVERHEAD,
    LOG_APPEND_TIME,
    BatchHeader,
    Buffer,
    CorruptBatch,
    InvalidRecord,
    parse_header,
)

_VARINT_BITS_MAX: Final = 63
_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1
_UINT64_MASK: Final = (1 << 64) - 1
_ZIGZAG: Final = tuple((byte >> 1) ^ -(byte & 1) for byte in range(0x80))

RecordSpan = tuple[int, bytes | None, bool, int, int, int]
"""(offset, key, value is null, timestamp, start, end): start and end of the encoded record,
its length prefix included, in the decompressed body."""


class Record:
    __slots__ = ("headers", "key", "offset", "timestamp", "value")

    def __init__(
        self,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: list[tuple[str, bytes | None]] | None = None,
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = [] if headers is None else headers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((self.offset, self.key))

    def __repr__(self) -> str:
        offset, timestamp, key, value, headers = self._fields()
        return f"Record({offset}, {timestamp}, {key!r}, {value!r}, {headers!r})"

    def _fields(self) -> tuple[int, int, bytes | None, bytes | None, object]:
        return self.offset, self.timestamp, self.key, self.value, self.headers


def read_header(batch: Buffer) -> BatchHeader:
    """Like `parse_header`, for buffers that may be too short."""
    if len(batch) < BATCH_OVERHEAD:
        raise CorruptBatch(f"{len(batch)} bytes are too few for a batch header")
    return parse_header(batch)


def read_body(
    batch: Buffer, header: BatchHeader, limit_bytes: int = DECOMPRESSED_BYTES_MAX
) -> Buffer:
    """The decompressed bytes behind the header; a view of the batch where nothing is compressed."""
    if header.size > len(batch) or header.size < BATCH_OVERHEAD:
        raise CorruptBatch(f"batch of {header.size} bytes in a buffer of {len(batch)}")
    return decompress(header.codec, memoryview(batch)[BATCH_OVERHEAD : header.size], limit_bytes)


def iter_records(batch: Buffer, limit_bytes: int = DECOMPRESSED_BYTES_MAX) -> Iterator[Record]:
    """The records of the one batch at the beginning of the buffer."""
    header = read_header(batch)
    body = read_body(batch, header, limit_bytes)
    body = bytes(body)  # so that the slices below are bytes
    for offset, key, value_length, timestamp, _, pos, end in _walk(header, body):
        value = None
        if value_length >= 0:
            value = body[pos : pos + value_length]
            pos += value_length
        yield Record(offset, timestamp, key, value, _read_headers(body, pos, end))


def iter_keys(header: BatchHeader, body: Buffer) -> Iterator[RecordSpan]:
    """Walk a decompressed body (see `read_body`) and build nothing but the keys."""
    for offset, key, value_length, timestamp, start, _, end in _walk(header, body):
        yield offset, key, value_length < 0, timestamp, start, end


def _walk(
    header: BatchHeader, body: Buffer
) -> Iterator[tuple[int, bytes | None, int, int, int, int, int]]:
    """(offset, key, value length, timestamp, start, start of the value, end) of each record."""
    # One copy of the whole spares a conversion of every key, and bytes are indexed fastest.
    body = bytes(body)
    append_time = header.max_timestamp if header.timestamp_type == LOG_APPEND_TIME else None
    pos = 0
    for _ in range(header.record_count):
        start = pos
        try:
            length, pos = read_varint(body, pos)
            end = pos + length
            timestamp_delta, pos = read_varint(body, pos + 1)
            offset_delta, pos = read_varint(body, pos)
            key_length, pos = read_varint(body, pos)
            key = None
            if key_length >= 0:
                key = body[pos : pos + key_length]
                pos += key_length
            value_length, pos = read_varint(body, pos)
        except IndexError:
            raise InvalidRecord("record ends in the middle of a field") from None
        if length < 0 or end > len(body) or pos + max(value_length, 0) >= end:
            raise InvalidRecord(f"record of {length} bytes does not hold its key and value")
        if not 0 <= offset_delta <= header.last_offset_delta:
            raise InvalidRecord(f"offset delta {offset_delta} lies outside of its batch")
        timestamp = append_time
        if timestamp is None:
            timestamp = header.base_timestamp + timestamp_delta
        if not _INT64_MIN <= timestamp <= _INT64_MAX:
            raise InvalidRecord("record timestamp is out of range")
        yield header.base_offset + offset_delta, key, value_length, timestamp, start, pos, end
        pos = end
    if pos != len(body):
        raise InvalidRecord(f"{len(body) - pos} bytes behind the last record of the batch")


def read_varint(buf: Buffer, pos: int) -> tuple[int, int]:
    """Zigzag value and the position behind it; IndexError where the buffer ends too early."""
    byte = buf[pos]
    if byte < 0x80:
        return _ZIGZAG[byte], pos + 1
    value = byte & 0x7F
    shift = 7
    while True:
        pos += 1
        byte = buf[pos]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= _UINT64_MASK
            return (value >> 1) ^ -(value & 1), pos + 1
        shift += 7
        if shift > _VARINT_BITS_MAX:
            raise InvalidRecord("variable-length number has more than ten bytes")


def _read_headers(body: bytes, pos: int, end: int) -> list[tuple[str, bytes | None]]:
    if body[pos] == 0 and pos + 1 == end:
        return []
    try:
        count, pos = read_varint(body, pos)
        if count < 0 or count > end - pos:
            raise InvalidRecord(f"record declares {count} headers")
        headers = []
        for _ in range(count):
            key, pos = _read_field(body, pos, end)
            if key is None:
                raise InvalidRecord("record header without a key")
            value, pos = _read_field(body, pos, end)
            # Not every client keeps to UTF-8; surrogates carry odd bytes through unchanged.
            headers.append((key.decode("utf-8", "surrogateescape"), value))
    except IndexError:
        raise InvalidRecord("record ends in the middle of its headers") from None
    if pos != end:
        raise InvalidRecord("record length does not match its fields")
    return headers


def _read_field(body: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    length, pos = read_varint(body, pos)
    if length < 0:
        return None, pos
    if length > end - pos:
        raise InvalidRecord("record header is longer than its record")
    return body[pos : pos + length], pos + length
