"""Record batches byte by byte, right or wrong: what no builder would write."""

from __future__ import annotations

import functools
import time
import zlib
from typing import Any

from penstock.records.builder import encode_records, write_varint
from penstock.records.compression import NONE, ZSTD, compress
from penstock.records.header import (
    BATCH_OVERHEAD,
    HEADER,
    LOG_OVERHEAD,
    MAGIC_V2,
    BatchHeader,
    seal,
)
from penstock.records.record import Record

NOW_MS = time.time_ns() // 1_000_000
GZIP_MEMBER = 31


def raw_batch(body: bytes, count: int = 1, **fields: Any) -> bytes:
    """Header and checksum fit the body, but for the fields given."""
    size = BATCH_OVERHEAD + len(body)
    header = BatchHeader(
        base_offset=0,
        batch_length=size - LOG_OVERHEAD,
        partition_leader_epoch=-1,
        magic=MAGIC_V2,
        crc=0,
        attributes=0,
        last_offset_delta=count - 1,
        base_timestamp=NOW_MS,
        max_timestamp=NOW_MS,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=count,
    )
    out = bytearray(HEADER.pack(*header._replace(**fields))) + body
    seal(out, 0, size)
    return bytes(out)


def raw_record(
    *,
    delta: int = 0,
    time_delta: int | bytes = 0,
    key: bytes | None = b"k",
    value: bytes | None = b"v",
    key_length: int | bytes | None = None,
    value_length: int | bytes | None = None,
    length: int | bytes | None = None,
    attributes: int = 0,
    header_count: int | bytes = 0,
    headers: bytes = b"",
) -> bytes:
    fields = bytes([attributes]) + _number(time_delta) + _number(delta)
    fields += _number(_length(key) if key_length is None else key_length) + (key or b"")
    fields += _number(_length(value) if value_length is None else value_length) + (value or b"")
    fields += _number(header_count) + headers
    return _number(len(fields) if length is None else length) + fields


def _length(value: bytes | None) -> int:
    return -1 if value is None else len(value)


def _number(value: int | bytes) -> bytes:
    return value if isinstance(value, bytes) else write_varint(value)


def good_body(count: int = 3, key: bytes | None = b"k", value: bytes = b"value") -> bytes:
    return bytes(encode_records([Record(i, NOW_MS, key, value) for i in range(count)], 0, NOW_MS))


@functools.cache
def many_records(count: int) -> bytes:
    """As small as records with a key can be, with the right offsets."""
    low = [bytes([z & 0x7F | 0x80, z >> 7 & 0x7F | 0x80]) for z in range(1 << 14)]
    high = [write_varint(-(z + 1) // 2 if z & 1 else z // 2) for z in range(1 << 10)]
    fields = b"\x02k\x01\x00"
    small = [raw_record(delta=delta, value=None) for delta in range(min(count, 1 << 13))]
    deltas = (low[z & 0x3FFF] + high[z >> 14] for z in range(1 << 14, 2 * count, 2))
    large = [bytes([2 * (6 + len(delta)), 0, 0]) + delta + fields for delta in deltas]
    return b"".join(small) + b"".join(large)


def zeros_batch(size: int, codec: int = ZSTD) -> bytes:
    """One record whose value is so many zeros: a few KB that unfold into `size`."""
    start, end = zeros_record(size)
    return raw_batch(compress(codec, start + bytes(size) + end), attributes=codec)


def gzip_zeros_batch(megabytes: int) -> bytes:
    """As many streams behind each other: made without ever holding it all."""
    start, end = zeros_record(megabytes << 20)
    body = _gzip(start) + _gzip(bytes(1 << 20)) * megabytes + _gzip(end)
    return raw_batch(body, attributes=1)


def zeros_record(size: int) -> tuple[bytes, bytes]:
    """What stands before and behind the zeros."""
    start = b"\x00" + write_varint(0) + write_varint(0) + b"\x02k" + write_varint(size)
    return write_varint(len(start) + size + 1) + start, b"\x00"


def _gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=GZIP_MEMBER)
    return packer.compress(data) + packer.flush()


def packed(codec: int, body: bytes, count: int = 1, **fields: Any) -> bytes:
    data = body if codec == NONE else compress(codec, body)
    return raw_batch(data, count, **({"attributes": codec} | fields))
