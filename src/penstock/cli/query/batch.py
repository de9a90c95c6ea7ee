"""Fetched bytes as Arrow's columns.

Records of aborted transactions and markers are left out, as for any reader of what was committed.
Keys and values stay where they are until Arrow copies them into a column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, cast

import pyarrow as pa

from penstock.cli.failure import Failure
from penstock.cli.query.bound import SCHEMA, TIME
from penstock.model.error import ApiError
from penstock.protocol.messages.fetch import PartitionData
from penstock.records.column import ColumnReader
from penstock.records.control import parse_end_marker
from penstock.records.header import (
    LOG_APPEND_TIME,
    BatchHeader,
    Buffer,
    check_batch,
    iter_batches,
)
from penstock.records.record import iter_records, read_body

_BODY_BYTES: Final = 64 << 20
"""So much is made one record batch of, decompressed."""
_TEXT: Final = {"key": "key", "value": "value"}
_BYTES: Final = {"key_bytes": "key", "value_bytes": "value"}


class Wanted(NamedTuple):
    """Of one range of one partition."""

    topic: str
    partition: int
    first: int
    last: int
    """Not included."""
    columns: frozenset[str]
    newest_us_min: int | None = None
    """Batches whose newest record is older are passed over."""


def next_offset(data: PartitionData) -> int | None:
    """Behind the last whole batch; None if there is none."""
    found = None
    with memoryview(cast(Buffer, data.records or b"")) as view:
        for _, header in iter_batches(view, 0, len(view)):
            found = header.next_offset
    return found


def record_batches(data: PartitionData, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    view = memoryview(cast(Buffer, data.records or b""))
    bodies: list[tuple[BatchHeader, Buffer, memoryview]] = []
    size = 0
    try:
        for header, batch in _committed(view, data):
            if _passed_over(header, wanted):
                continue
            body = read_body(batch, header)
            bodies.append((header, body, batch))
            size += len(body)
            if size >= _BODY_BYTES:
                yield _arrow(bodies, wanted)
                bodies, size = [], 0
        if bodies:
            yield _arrow(bodies, wanted)
    except (ApiError, ValueError) as error:
        where = f"{wanted.topic}-{wanted.partition}"
        raise Failure(f"{where}: a batch cannot be read: {error}") from error


def _passed_over(header: BatchHeader, wanted: Wanted) -> bool:
    if header.next_offset <= wanted.first or header.base_offset >= wanted.last:
        return True
    oldest = wanted.newest_us_min
    return oldest is not None and header.max_timestamp * 1000 + 999 < oldest


def _committed(view: memoryview, data: PartitionData) -> Iterator[tuple[BatchHeader, memoryview]]:
    aborted = sorted(
        (each.first_offset, each.producer_id) for each in data.aborted_transactions or ()
    )
    aborting: set[int] = set()
    for position, header in iter_batches(view, 0, len(view)):
        batch = view[position : position + header.size]
        while aborted and aborted[0][0] <= header.last_offset:
            aborting.add(aborted.pop(0)[1])
        if header.is_control:
            if _is_abort(batch):
                aborting.discard(header.producer_id)
            continue
        if header.is_transactional and header.producer_id in aborting:
            continue
        check_batch(batch, 0, header.size)
        yield header, batch


def _is_abort(batch: memoryview) -> bool:
    markers = (parse_end_marker(record) for record in iter_records(bytes(batch)))
    return any(marker is not None and not marker.commit for marker in markers)


def _arrow(bodies: list[tuple[BatchHeader, Buffer, memoryview]], wanted: Wanted) -> pa.RecordBatch:
    capacity = sum(header.record_count for header, _, _ in bodies)
    offsets, times = _room(capacity * 8, "q"), _room(capacity * 8, "q")
    keys, values = _room(capacity * 16, "I"), _room(capacity * 16, "I")
    key_bits, value_bits = _room(capacity // 8 + 1, "B"), _room(capacity // 8 + 1, "B")
    reader = ColumnReader(capacity, offsets, times, keys, key_bits, values, value_bits)
    for index, (header, body, _) in enumerate(bodies):
        is_append = header.timestamp_type == LOG_APPEND_TIME
        reader.read(
            body,
            header.record_count,
            header.base_offset,
            header.base_timestamp,
            header.max_timestamp if is_append else -1,
            wanted.first,
            wanted.last,
            index,
        )
    count = reader.count
    buffers = [pa.py_buffer(body) for _, body, _ in bodies]
    views = {"key": (keys, key_bits), "value": (values, value_bits)}
    columns: dict[str, pa.Array] = {
        "partition": pa.repeat(pa.scalar(wanted.partition, pa.int32()), count),
        "offset": _numbers(pa.int64(), count, offsets),
        "timestamp": _numbers(TIME, count, times),
    }
    for name in wanted.columns & {*_TEXT, *_BYTES}:
        bytes_ = _views(count, *views[_TEXT.get(name) or _BYTES[name]], buffers)
        columns[name] = bytes_.cast(pa.binary()) if name in _BYTES else _text(bytes_)
    if "headers" in wanted.columns:
        columns["headers"] = _headers(bodies, wanted)
    fields = [field for field in SCHEMA if field.name in columns]
    return pa.record_batch([columns[field.name] for field in fields], schema=pa.schema(fields))


def _room(size: int, form: Literal["q", "I", "B"]) -> memoryview:
    return memoryview(bytearray(size)).cast(form)


def _numbers(kind: pa.DataType, count: int, buffer: memoryview) -> pa.Array:
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(buffer)])


def _views(count: int, views: memoryview, bits: memoryview, buffers: list[pa.Buffer]) -> pa.Array:
    parts = [pa.py_buffer(bits), pa.py_buffer(views), *buffers]
    return pa.Array.from_buffers(pa.binary_view(), count, parts)


def _text(found: pa.Array) -> pa.Array:
    """What is not UTF-8 is null; its bytes have a column of their own."""
    try:
        return found.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_decoded(each.as_py()) for each in found], pa.string())


def _decoded(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        return None


def _headers(bodies: list[tuple[BatchHeader, Buffer, memoryview]], wanted: Wanted) -> pa.Array:
    """As JSON, `{"name": "text", …}`; null without any."""
    import json

    found = []
    for _, _, batch in bodies:
        for record in iter_records(bytes(batch)):
            if wanted.first <= record.offset < wanted.last:
                said = {name: _decoded(value) for name, value in record.headers or ()}
                found.append(json.dumps(said, ensure_ascii=False) if said else None)
    return pa.array(found, pa.string())
