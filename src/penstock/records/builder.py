"""Writing record batches: from records, from parts of another batch, or with another codec.

Values that cannot be encoded are a fault of ours, never of a client, so that they raise
InvariantError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from penstock.model.error import InvariantError
from penstock.records.compression import NONE, compress
from penstock.records.header import (
    APPEND_TIME_BIT,
    BATCH_OVERHEAD,
    CODEC_MASK,
    CONTROL_BIT,
    CREATE_TIME,
    DELETE_HORIZON_BIT,
    HEADER,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC_V2,
    NO_TIMESTAMP,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Buffer,
    seal,
)
from penstock.records.record import Record, RecordSpan, iter_records, read_body, read_header

_NULL: Final = b"\x01"
_ONE_BYTE: Final = tuple(bytes([value]) for value in range(0x80))


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    last_offset_delta: int | None = None,
    codec: int = NONE,
    level: int | None = None,
    timestamp_type: int = CREATE_TIME,
    max_timestamp: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
    leader_epoch: int = -1,
    delete_horizon_ms: int | None = None,
) -> bytearray:
    """Offsets are those of the records, which may leave gaps behind base_offset.

    `last_offset_delta` and `max_timestamp` default to the last record's and the highest one.
    """
    kept = list(records)
    base_timestamp = kept[0].timestamp if kept else NO_TIMESTAMP
    if delete_horizon_ms is not None:
        base_timestamp = delete_horizon_ms
    if last_offset_delta is None:
        last_offset_delta = kept[-1].offset - base_offset if kept else 0
    if max_timestamp is None:
        max_timestamp = max((record.timestamp for record in kept), default=NO_TIMESTAMP)
    attributes = codec & CODEC_MASK
    attributes |= APPEND_TIME_BIT if timestamp_type == LOG_APPEND_TIME else 0
    attributes |= TRANSACTIONAL_BIT if is_transactional else 0
    attributes |= CONTROL_BIT if is_control else 0
    attributes |= DELETE_HORIZON_BIT if delete_horizon_ms is not None else 0
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        partition_leader_epoch=leader_epoch,
        magic=MAGIC_V2,
        crc=0,
        attributes=attributes,
        last_offset_delta=last_offset_delta,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(kept),
    )
    return _assemble(header, encode_records(kept, base_offset, base_timestamp), level)


def recompress(batch: Buffer, codec: int, level: int | None = None) -> bytearray:
    """The same records under another codec; everything else in the header stays."""
    header = read_header(batch)
    body = read_body(batch, header)
    return _assemble(_with_codec(header, codec), body, level)


def retain(
    header: BatchHeader,
    body: Buffer,
    spans: Sequence[RecordSpan],
    *,
    delete_horizon_ms: int | None = None,
    level: int | None = None,
) -> bytearray:
    """The batch with only the given records of it, as compaction leaves it behind.

    Base offset, last offset, producer and sequence stay, so that offsets and duplicate detection
    do not notice. The encoded records are copied untouched; only a new delete horizon changes
    what their timestamps are relative to, and has them encoded anew.
    """
    if header.timestamp_type == CREATE_TIME and spans:
        header = header._replace(max_timestamp=max(span[3] for span in spans))
    header = header._replace(record_count=len(spans))
    if delete_horizon_ms is None or delete_horizon_ms == header.delete_horizon_ms:
        view = memoryview(body)
        kept = b"".join([view[start:end] for _, _, _, _, start, end in spans])
        return _assemble(header, kept, level)
    return _rebase(header, body, spans, delete_horizon_ms, level)


def _rebase(
    header: BatchHeader,
    body: Buffer,
    spans: Sequence[RecordSpan],
    delete_horizon_ms: int,
    level: int | None,
) -> bytearray:
    kept = b"".join([memoryview(body)[span[4] : span[5]] for span in spans])
    plain = _assemble(_with_codec(header, NONE), kept, None)
    body = encode_records(iter_records(plain), header.base_offset, delete_horizon_ms)
    attributes = header.attributes | DELETE_HORIZON_BIT
    header = header._replace(attributes=attributes, base_timestamp=delete_horizon_ms)
    return _assemble(header, body, level)


def encode_records(records: Iterable[Record], base_offset: int, base_timestamp: int) -> bytearray:
    out = bytearray()
    for record in records:
        delta = record.offset - base_offset
        if delta < 0:
            raise InvariantError(f"record {record.offset} stands before its batch {base_offset}")
        encoded = _encode_record(record, delta, record.timestamp - base_timestamp)
        out += write_varint(len(encoded))
        out += encoded
    return out


def write_varint(value: int) -> bytes:
    zigzag = (value << 1) ^ (value >> 63)
    if zigzag < 0x80:
        return _ONE_BYTE[zigzag]
    out = bytearray()
    while zigzag >= 0x80:
        out.append((zigzag & 0x7F) | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


def _encode_record(record: Record, offset_delta: int, timestamp_delta: int) -> bytes:
    parts = [b"\x00", write_varint(timestamp_delta), write_varint(offset_delta)]
    _add_field(parts, record.key)
    _add_field(parts, record.value)
    parts.append(write_varint(len(record.headers)))
    for key, value in record.headers:
        _add_field(parts, key.encode("utf-8", "surrogateescape"))
        _add_field(parts, value)
    return b"".join(parts)


def _add_field(parts: list[bytes], value: bytes | None) -> None:
    if value is None:
        parts.append(_NULL)
    else:
        parts.append(write_varint(len(value)))
        parts.append(value)


def _with_codec(header: BatchHeader, codec: int) -> BatchHeader:
    return header._replace(attributes=(header.attributes & ~CODEC_MASK) | codec)


def _assemble(header: BatchHeader, body: Buffer, level: int | None) -> bytearray:
    """Header fields of the body (length, checksum) are set here; `body` is uncompressed."""
    if header.codec != NONE:
        body = compress(header.codec, body, level)
    size = BATCH_OVERHEAD + len(body)
    out = bytearray(BATCH_OVERHEAD)
    HEADER.pack_into(out, 0, *header._replace(batch_length=size - LOG_OVERHEAD, crc=0))
    out += body
    seal(out, 0, size)
    return out
