"""Making the sparse indexes of a segment anew from its batches. Cuts nothing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from penstock.records.header import NO_TIMESTAMP, BatchHeader, CorruptBatch
from penstock.storage.batch_walk import walk_batches
from penstock.storage.recovery.batch_search import search_batch

if TYPE_CHECKING:
    from penstock.storage.segment import Segment

_logger = logging.getLogger(__name__)

RELATIVE_OFFSET_MAX = 0x7FFFFFFF


def rebuild_indexes(segment: Segment) -> None:
    """An index file is missing or makes no sense. Also what stands behind damage is found again:
    without an entry nobody could read it any more."""
    length = segment.size
    segment.forget()
    fd = segment.file.open_fd()
    position, highest = 0, segment.base_offset + RELATIVE_OFFSET_MAX
    expected = segment.base_offset
    while position < length:
        try:
            for at, header in walk_batches(segment.disk, fd, position, length):
                position = at
                if not expected <= header.base_offset <= header.last_offset <= highest:
                    raise CorruptBatch(f"offset {header.base_offset} where {expected} is due")
                note_batch(segment, at, header)
                expected = header.next_offset
                position = at + header.size
        except CorruptBatch as damage:
            _logger.error("%s is damaged behind offset %d: %s", segment.path, expected, damage)
            found = search_batch(segment.disk, fd, position + 1, length, expected, highest)
            position = length if found is None else found[0]
            # Nobody gets past the damage but by an entry.
            segment.bytes_since_index = segment.index_interval_bytes + 1
    if segment.size != length:
        # Where the segment ends cannot be said: whoever asks is told what is wrong there.
        segment.forget_tail()
    segment.size = length
    settle(segment)


def note_batch(segment: Segment, position: int, header: BatchHeader) -> None:
    # A batch that compaction has emptied has no record for the time index to lead to.
    timestamp = header.max_timestamp if header.record_count else NO_TIMESTAMP
    segment.note_batch(position, header.size, header.base_offset, header.last_offset, timestamp)


def settle(segment: Segment) -> None:
    segment.seal()
    for index in (segment.index, segment.time_index):
        index.trim()
        index.close()
    segment.verified_from = segment.verified_to = segment.size
