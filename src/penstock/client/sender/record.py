"""A record on its way, and its form in a spool. Pure.

A frame is its length, a checksum and the record. What a crash left half written does not check.
"""

from __future__ import annotations

import struct
import zlib
from concurrent.futures import Future
from typing import Any, NamedTuple

_FRAME = struct.Struct(">II")
_HEAD = struct.Struct(">qiH")
_LENGTH = struct.Struct(">i")
FRAME_BYTES = _FRAME.size

WireHeaders = list[tuple[str, bytes | None]]


class Record(NamedTuple):
    topic: str
    key: bytes | None
    value: bytes | None
    headers: WireHeaders
    partition: int
    timestamp_ms: int


class UnderWay:
    """A record that was given to a producer, until its report."""

    __slots__ = ("future", "record", "since")

    def __init__(self, record: Record, since: float, future: Future[Any]) -> None:
        self.record = record
        self.since = since
        self.future = future


def encode_frame(record: Record) -> bytes:
    fields = [record.topic.encode(), record.key, record.value]
    for name, value in record.headers:
        fields += [name.encode(), value]
    head = _HEAD.pack(record.timestamp_ms, record.partition, len(record.headers))
    body = head + b"".join(map(_sized, fields))
    return _FRAME.pack(len(body), zlib.crc32(body)) + body


def decode_frame(data: bytes, start: int) -> tuple[Record, int] | None:
    """The record at this place, and where the next begins; None if it is not whole."""
    if len(data) < start + FRAME_BYTES:
        return None
    length, checksum = _FRAME.unpack_from(data, start)
    end = start + FRAME_BYTES + length
    body = data[start + FRAME_BYTES : end]
    if len(body) < length or zlib.crc32(body) != checksum:
        return None
    return _decode_body(body), end


def _sized(field: bytes | None) -> bytes:
    return _LENGTH.pack(-1) if field is None else _LENGTH.pack(len(field)) + field


def _decode_body(body: bytes) -> Record:
    timestamp_ms, partition, headers = _HEAD.unpack_from(body)
    place, fields = _HEAD.size, []
    for _ in range(3 + 2 * headers):
        (size,) = _LENGTH.unpack_from(body, place)
        place += _LENGTH.size
        fields.append(None if size < 0 else body[place : place + size])
        place += max(size, 0)
    topic, key, value, *pairs = fields
    named = [
        ((name or b"").decode(), content) for name, content in zip(*[iter(pairs)] * 2, strict=True)
    ]
    return Record((topic or b"").decode(), key, value, named, partition, timestamp_ms)
