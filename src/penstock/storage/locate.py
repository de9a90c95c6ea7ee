"""Where in a log's segments a read begins."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from penstock.records.header import BATCH_OVERHEAD
from penstock.storage.segment import Found, Segment

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
