"""Appending as a follower: whole batches, with the offsets and epochs their leader gave them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.model.error import ApiError, ErrorCode
from penstock.records.control import EndMarker
from penstock.records.header import (
    CONTROL_BIT,
    BatchHeader,
    Buffer,
    InvalidRecord,
    check_batch,
    check_holdable,
)
from penstock.storage.abort_note import noted_abort
from penstock.storage.recovery.replay import read_marker

if TYPE_CHECKING:
    from penstock.storage.log import Log


def append_replicated(log: Log, records: Buffer, now_ms: int) -> tuple[int, int]:
    """First and last offset of what was written.

    An abort is noted before its marker is written, and behind what stands before that: the marker
    begins a stretch of its own. Where one cannot be written, those before it are there."""
    headers = _check_order(log, records)
    data = memoryview(records)
    markers = _markers(data, headers)
    aborts = [slot for slot, marker in enumerate(markers) if marker and not marker.commit]
    position = begin = 0
    for end in [*aborts, len(headers)]:
        if end > begin:
            size = sum(header.size for header in headers[begin:end])
            stretch = data[position : position + size]
            _append_stretch(log, stretch, headers[begin:end], markers[begin:end], now_ms)
            position += size
        begin = end
    return headers[0].base_offset, headers[-1].last_offset


def _append_stretch(
    log: Log,
    records: memoryview,
    headers: list[BatchHeader],
    markers: Sequence[EndMarker | None],
    now_ms: int,
) -> None:
    first, last, marker = headers[0], headers[-1], markers[0]
    newest = max(header.max_timestamp for header in headers)
    size = len(records)
    try:
        segment = log.segment_for(size, first.base_offset, last.last_offset, newest, now_ms)
        if marker is None or marker.commit:
            segment.append_many(records, headers)
        else:
            with noted_abort(segment, log.producers, first.producer_id, first.base_offset):
                segment.append_many(records, headers)
    except OSError as error:
        log.fail_write(error)
    for header, marker in zip(headers, markers, strict=True):
        if header.partition_leader_epoch > log.epochs.latest:
            log.epochs.assign(header.partition_leader_epoch, header.base_offset)
        if header.producer_id >= 0:
            log.update_producer(header, header.base_offset, header.max_timestamp, marker)
    log.note_appended(size, last.next_offset, now_ms)


def _check_order(log: Log, records: Buffer) -> list[BatchHeader]:
    headers: list[BatchHeader] = []
    position, expected = 0, log.end_offset
    while position < len(records):
        header = check_batch(records, position, len(records))
        if header.base_offset < expected:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"batch at offset {header.base_offset} does not follow {expected - 1}",
            )
        check_holdable(header)
        headers.append(header)
        expected = header.next_offset
        position += header.size
    if not headers:
        raise InvalidRecord("no batch to append")
    return headers


def _markers(records: memoryview, headers: Sequence[BatchHeader]) -> list[EndMarker | None]:
    """Of each batch, what it says about the end of a transaction."""
    markers: list[EndMarker | None] = []
    position = 0
    for header in headers:
        marker = None
        if header.producer_id >= 0 and header.attributes & CONTROL_BIT:
            marker = read_marker(records[position : position + header.size], header)
        markers.append(marker)
        position += header.size
    return markers
