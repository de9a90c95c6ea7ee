"""The 61-byte header in front of every record batch (magic 2): layout, reading, patching, checking.

This is all that the hot path ever reads of a batch. Nothing here decompresses or looks at a
single record; see `record` and `builder` for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from penstock.model.error import ApiError, ErrorCode
from penstock.records.checksum import crc32c

Buffer = bytes | bytearray | memoryview
WritableBuffer = bytearray | memoryview

BASE_OFFSET: Final = 0
LENGTH: Final = 8
LEADER_EPOCH: Final = 12
MAGIC: Final = 16
CRC: Final = 17
ATTRIBUTES: Final = 21
LAST_OFFSET_DELTA: Final = 23
BASE_TIMESTAMP: Final = 27
MAX_TIMESTAMP: Final = 35
PRODUCER_ID: Final = 43
PRODUCER_EPOCH: Final = 51
BASE_SEQUENCE: Final = 53
RECORD_COUNT: Final = 57
BATCH_OVERHEAD: Final = 61

LOG_OVERHEAD: Final = 12
"""Bytes of base offset and length, which the length field does not count."""

MAGIC_V2: Final = 2
CODEC_MASK: Final = 0x07
APPEND_TIME_BIT: Final = 0x08
TRANSACTIONAL_BIT: Final = 0x10
CONTROL_BIT: Final = 0x20
DELETE_HORIZON_BIT: Final = 0x40

CREATE_TIME: Final = 0
LOG_APPEND_TIME: Final = 1

RECORD_BYTES_MIN: Final = 7
"""A length, attributes, two deltas, two lengths and the number of headers, a byte each."""
RATIO_MAX: Final = (1, 1032, 22, 255, 32768)
"""How many bytes one byte of a body can stand for at most, by codec: gzip packs 258 into two bits,
snappy 64 into three bytes, lz4 255 into a byte of a run, zstd a block of 128 KiB into four."""

NO_PRODUCER: Final = -1
NO_TIMESTAMP: Final = -1
SEQUENCE_MAX: Final = 0x7FFFFFFF

HEADER: Final = Struct(">qiibIhiqqqhii")
_OFFSET: Final = Struct(">q")
_EPOCH: Final = Struct(">i")
_U32: Final = Struct(">I")
_I16: Final = Struct(">h")
_LENGTH: Final = Struct(">i")
_unpack_header = HEADER.unpack_from


class CorruptBatch(ApiError):
    """Bytes that are not what was written: damaged on the way or on disk."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.CORRUPT_MESSAGE, message)


class InvalidRecord(ApiError):
    """Undamaged bytes that a client should never have sent."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.INVALID_RECORD, message)


class BatchHeader(NamedTuple):
    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        return self.batch_length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> int:
        return LOG_APPEND_TIME if self.attributes & APPEND_TIME_BIT else CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def has_producer(self) -> bool:
        return self.producer_id != NO_PRODUCER

    @property
    def last_sequence(self) -> int:
        if self.base_sequence == -1:
            return -1
        return advance_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When its tombstones and markers may go; compaction keeps it in place of the base
        timestamp (KIP-534). Record timestamps stay deltas to that same field."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None


def advance_sequence(sequence: int, count: int) -> int:
    """Sequence numbers run from 0 to 2^31 - 1 and begin again at 0."""
    return (sequence + count) & SEQUENCE_MAX


def parse_header(buf: Buffer, pos: int = 0) -> BatchHeader:
    """The caller has made sure that BATCH_OVERHEAD bytes are there."""
    return BatchHeader(*_unpack_header(buf, pos))


def batch_size(buf: Buffer, pos: int = 0) -> int:
    """Whole size in bytes as its length field tells it, without reading the rest."""
    length: int = _LENGTH.unpack_from(buf, pos + LENGTH)[0]
    return length + LOG_OVERHEAD


def assign_offset(buf: WritableBuffer, pos: int, base_offset: int, leader_epoch: int) -> None:
    """Neither field is covered by the checksum, so a leader may set them freely."""
    _OFFSET.pack_into(buf, pos + BASE_OFFSET, base_offset)
    _EPOCH.pack_into(buf, pos + LEADER_EPOCH, leader_epoch)


def assign_append_time(buf: WritableBuffer, pos: int, now_ms: int) -> None:
    """Turn the batch into one of log append time; this changes checksummed bytes."""
    attributes: int = _I16.unpack_from(buf, pos + ATTRIBUTES)[0]
    _I16.pack_into(buf, pos + ATTRIBUTES, attributes | APPEND_TIME_BIT)
    _OFFSET.pack_into(buf, pos + MAX_TIMESTAMP, now_ms)
    seal(buf, pos, batch_size(buf, pos))


def assign_create_time(buf: WritableBuffer, pos: int, newest_ms: int) -> None:
    """The producers' own times, the latest of which is this; changes checksummed bytes."""
    attributes: int = _I16.unpack_from(buf, pos + ATTRIBUTES)[0]
    _I16.pack_into(buf, pos + ATTRIBUTES, attributes & ~APPEND_TIME_BIT)
    _OFFSET.pack_into(buf, pos + MAX_TIMESTAMP, newest_ms)
    seal(buf, pos, batch_size(buf, pos))


def seal(buf: WritableBuffer, pos: int, size: int) -> None:
    """Write the checksum that fits the bytes as they are now."""
    _U32.pack_into(buf, pos + CRC, compute_crc(buf, pos, size))


def compute_crc(buf: Buffer, pos: int, size: int) -> int:
    with memoryview(buf) as view, view[pos + ATTRIBUTES : pos + size] as covered:
        return crc32c(covered)


def check_batch(buf: Buffer, pos: int, limit: int) -> BatchHeader:
    """A whole, undamaged batch lies at pos and ends at or before limit.

    Right for whatever stands in a log, compacted batches included. What a client sends has to
    pass `check_produced` as well.
    """
    if limit - pos < BATCH_OVERHEAD:
        raise CorruptBatch(f"{limit - pos} bytes are too few for a batch header")
    header = BatchHeader(*_unpack_header(buf, pos))
    if header.magic != MAGIC_V2:
        raise InvalidRecord(f"batch has magic {header.magic}, only {MAGIC_V2} is supported")
    size = header.batch_length + LOG_OVERHEAD
    if size < BATCH_OVERHEAD or size > limit - pos:
        raise CorruptBatch(f"batch of {size} bytes does not fit into the {limit - pos} given")
    if compute_crc(buf, pos, size) != header.crc:
        raise CorruptBatch(f"batch at offset {header.base_offset} fails its checksum")
    if header.last_offset_delta < 0 or header.record_count < 0:
        raise InvalidRecord("batch has a negative record count or offset delta")
    return header


def check_holdable(header: BatchHeader) -> None:
    """As many records as it declares could be in a body of its size, under a codec that exists."""
    codec = header.attributes & CODEC_MASK
    if codec >= len(RATIO_MAX):
        raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"unknown compression codec {codec}")
    body_bytes = header.batch_length + LOG_OVERHEAD - BATCH_OVERHEAD
    if header.record_count * RECORD_BYTES_MIN > body_bytes * RATIO_MAX[codec]:
        raise InvalidRecord(f"{body_bytes} bytes cannot hold {header.record_count} records")


def check_produced(header: BatchHeader) -> None:
    """Rules for batches from clients: dense offsets, no control batches, a usable sequence.

    A compacted batch breaks the first rule and is valid all the same, so that logs and
    followers use `check_batch` alone.
    """
    if header.base_offset != 0:
        raise InvalidRecord(f"batch begins at offset {header.base_offset}, not at 0")
    if header.record_count <= 0:
        raise InvalidRecord(f"batch declares {header.record_count} records")
    if header.last_offset_delta != header.record_count - 1:
        raise InvalidRecord(
            f"batch of {header.record_count} records has last offset delta "
            f"{header.last_offset_delta}"
        )
    check_holdable(header)
    if header.attributes & CONTROL_BIT:
        raise InvalidRecord("clients may not write control batches")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise InvalidRecord(f"producer {header.producer_id} sent sequence {header.base_sequence}")
    if header.producer_id >= 0 and header.producer_epoch < -1:
        raise ApiError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {header.producer_id} sent epoch {header.producer_epoch}",
        )


def iter_batches(buf: Buffer, pos: int, limit: int) -> Iterator[tuple[int, BatchHeader]]:
    """Positions and headers of the whole batches in a buffer, by their lengths only.

    Stops in front of a batch that is cut off by the limit; does not check checksums.
    """
    while limit - pos >= BATCH_OVERHEAD:
        header = BatchHeader(*_unpack_header(buf, pos))
        size = header.batch_length + LOG_OVERHEAD
        if size < BATCH_OVERHEAD:
            raise CorruptBatch(f"batch of {size} bytes is shorter than its own header")
        if size > limit - pos:
            return
        yield pos, header
        pos += size
