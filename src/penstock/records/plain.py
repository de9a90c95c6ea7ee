"""Batches of keyed records without headers, compression or gaps, all of one time.

That is what coordinators write and read back, a batch for every request and a million records at a
start. `builder` and `record` do the same for whatever else a batch can be, at several times the
cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from penstock.records.builder import write_varint
from penstock.records.checksum import crc32c
from penstock.records.header import (
    ATTRIBUTES,
    BATCH_OVERHEAD,
    CODEC_MASK,
    CRC,
    HEADER,
    LOG_OVERHEAD,
    MAGIC_V2,
    TRANSACTIONAL_BIT,
    BatchHeader,
    InvalidRecord,
)
from penstock.records.record import iter_records, read_varint

_NO_TIME_DELTA: Final = b"\x00\x00"
"""Attributes and timestamp delta of every record."""
_NULL: Final = b"\x01"
_NO_HEADERS: Final = b"\x00"

_SMALL: Final = 512
_look_up: Final = tuple(write_varint(number) for number in range(2 * _SMALL + 16)).__getitem__
"""Varints, looked up rather than computed: four for every record."""

Pair = tuple[bytes, bytes | None]


def build_plain_batch(
    pairs: Sequence[Pair], timestamp: int, producer_id: int = -1, producer_epoch: int = -1
) -> bytearray:
    """With a producer the batch is part of its transaction."""
    count = len(pairs)
    if count == 1:
        body = _encode(0, *pairs[0])
    else:
        body = b"".join([_encode(delta, key, value) for delta, (key, value) in enumerate(pairs)])
    out = bytearray(
        HEADER.pack(
            0,
            BATCH_OVERHEAD - LOG_OVERHEAD + len(body),
            -1,
            MAGIC_V2,
            0,
            0 if producer_id < 0 else TRANSACTIONAL_BIT,
            count - 1,
            timestamp,
            timestamp,
            producer_id,
            producer_epoch,
            -1,
            count,
        )
    )
    out += body
    out[CRC:ATTRIBUTES] = crc32c(bytes(out[ATTRIBUTES:])).to_bytes(4, "big")
    return out


def _encode(delta: int, key: bytes, value: bytes | None) -> bytes:
    size, key_size = 0 if value is None else len(value), len(key)
    small = size < _SMALL and key_size < _SMALL and delta < _SMALL
    varint = _look_up if small else write_varint
    shown = _NULL if value is None else varint(size) + value
    record = b"".join((_NO_TIME_DELTA, varint(delta), varint(key_size), key, shown, _NO_HEADERS))
    return varint(len(record)) + record


def iter_pairs(
    header: BatchHeader, batch: memoryview
) -> Iterator[tuple[int, bytes | None, bytes | None]]:
    """Offset, key and value of each record; of any batch, and fast for uncompressed ones."""
    if header.attributes & CODEC_MASK:
        for record in iter_records(batch):
            yield record.offset, record.key, record.value
        return
    body = bytes(batch[BATCH_OVERHEAD : header.size])
    base_offset, size, pos = header.base_offset, len(body), 0
    try:
        for _ in range(header.record_count):
            length, pos = read_varint(body, pos)
            end = pos + length
            # Behind the attributes; a time delta of 0 is the rule and takes one byte.
            pos = pos + 2 if body[pos + 1] < 0x80 else read_varint(body, pos + 1)[1]
            delta, pos = read_varint(body, pos)
            key_size, pos = read_varint(body, pos)
            key = None
            if key_size >= 0:
                key = body[pos : pos + key_size]
                pos += key_size
            value_size, pos = read_varint(body, pos)
            value = None if value_size < 0 else body[pos : pos + value_size]
            if length < 0 or end > size or pos + value_size >= end:
                raise InvalidRecord(f"record of {length} bytes does not hold its key and value")
            yield base_offset + delta, key, value
            pos = end
    except IndexError:
        raise InvalidRecord("record ends in the middle of a field") from None
