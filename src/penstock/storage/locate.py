"""Where in a log's segments a read begins, and where it ends."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from penstock.records.header import BATCH_OVERHEAD
from penstock.storage.segment import Found, Segment
from penstock.storage.slice import FileSlice

if TYPE_CHECKING:
    from penstock.storage.log import Log

Place = tuple[Segment, int, Found]
"""A segment, its slot among the log's, and a batch in it."""


def locate(log: Log, offset: int, upper_bound: int) -> Place | None:
    """The batch that holds the offset, or the next one before the bound.

    A batch of which compaction took all records is an answer only together with others of its
    segment, or as the last of the log: alone, some clients take it for a record too large to
    fetch and never get past it.
    """
    slot = max(bisect_right(log.bases, offset) - 1, 0)
    hollow: Place | None = None
    while slot < len(log.segments) and offset < upper_bound:
        segment = log.segments[slot]
        found = segment.find(offset)
        if found is None:
            slot += 1
        elif found.size == BATCH_OVERHEAD:
            hollow = hollow or (segment, slot, found)
            offset = found.last_offset + 1
        elif hollow is not None and hollow[0] is segment:
            return hollow
        else:
            return segment, slot, found
    return hollow


def cut_slice(
    log: Log, place: Place, max_bytes: int, upper_bound: int, min_one: bool
) -> FileSlice | None:
    """From the place on, as far as the bound and the bytes allow. Checksums of what was not
    written by this process are verified once."""
    segment, slot, found = place
    if found.size > max_bytes and not min_one:
        return None
    end = segment.size
    if upper_bound < log.end_offset and not _ends_before(log, slot, upper_bound):
        bound = segment.find(upper_bound)
        end = bound.position if bound is not None else end
    position = found.position
    end = min(end, position + max(max_bytes, found.size))
    if end <= position:
        return None
    end = segment.verify(position, end)
    return FileSlice(log.disk, segment.file, position, end - position)


def _ends_before(log: Log, slot: int, offset: int) -> bool:
    return slot + 1 < len(log.bases) and log.bases[slot + 1] <= offset
