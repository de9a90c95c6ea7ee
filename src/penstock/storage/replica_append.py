"""Appending as a follower: whole batches, with the offsets and epochs their leader gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.model.error import ApiError, ErrorCode
from penstock.records.header import (
    CONTROL_BIT,
    BatchHeader,
    Buffer,
    InvalidRecord,
    check_batch,
    check_holdable,
)
from penstock.storage.recovery.replay import read_marker

if TYPE_CHECKING:
    from penstock.storage.log import Log


def append_replicated(log: Log, records: Buffer, now_ms: int) -> tuple[int, int]:
    """First and last offset of what was written."""
    headers = _check_order(log, records)
    first, last = headers[0], headers[-1]
    newest = max(header.max_timestamp for header in headers)
    size = len(records)
    try:
        segment = log.segment_for(size, first.base_offset, last.last_offset, newest, now_ms)
        segment.append_many(records, headers)
    except OSError as error:
        log.fail_write(error)
    position = 0
    for header in headers:
        if header.partition_leader_epoch > log.epochs.latest:
            log.epochs.assign(header.partition_leader_epoch, header.base_offset)
        if header.producer_id >= 0:
            _tell_producer(log, memoryview(records)[position : position + header.size], header)
        position += header.size
    log.note_appended(size, last.next_offset, now_ms)
    return first.base_offset, last.last_offset


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


def _tell_producer(log: Log, batch: Buffer, header: BatchHeader) -> None:
    marker = None
    if header.attributes & CONTROL_BIT:
        marker = read_marker(batch, header)
        if marker is not None and not marker.commit:
            log.note_abort(log.active, header, header.base_offset)
    log.update_producer(header, header.base_offset, header.max_timestamp, marker)
