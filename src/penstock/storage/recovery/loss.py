"""What a recovery has to give up, as exactly as the bytes still tell.

Counts the records behind the first damaged batch: by the header of that batch, if it is one that
could stand there, and by every whole batch found further on. Owns the totals that the metrics show.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

from penstock.records.header import BATCH_OVERHEAD, MAGIC_V2, BatchHeader, parse_header
from penstock.storage.index.rebuild import RELATIVE_OFFSET_MAX
from penstock.storage.recovery.batch_search import walk_past_damage
from penstock.storage.segment import Segment


class Lost(NamedTuple):
    size_bytes: int = 0
    records: int = 0
    first_offset: int = -1
    last_offset: int = -1
    whole_batches: int = 0
    """Found behind the damage: a torn end has none, save after a power failure."""

    def plus(self, other: Lost) -> Lost:
        ends = [lost for lost in (self, other) if lost.records]
        return Lost(
            self.size_bytes + other.size_bytes,
            self.records + other.records,
            ends[0].first_offset if ends else -1,
            ends[-1].last_offset if ends else -1,
            self.whole_batches + other.whole_batches,
        )

    def describe(self) -> str:
        if not self.size_bytes:
            offsets = f"offsets {self.first_offset} to {self.last_offset}"
            return f"{self.records} records are gone, {offsets}"
        if not self.records:
            return f"{self.size_bytes} bytes are gone, in which no record can be made out"
        return (
            f"{self.size_bytes} bytes are gone, with {self.records} records that can be made out, "
            f"offsets {self.first_offset} to {self.last_offset}"
        )


class Losses:
    """Since the start. Recovery runs in several threads."""

    def __init__(self) -> None:
        self.records = self.size_bytes = self.logs = 0
        self._lock = Lock()

    def add(self, lost: Lost) -> None:
        with self._lock:
            self.records += lost.records
            self.size_bytes += lost.size_bytes
            self.logs += 1


def lost_behind(segment: Segment, position: int, end: int, expected: int) -> Lost:
    """Of one segment, from the position of its first damaged batch on. `expected` is the offset
    that is due there."""
    fd = segment.file.open_fd()
    highest = segment.base_offset + RELATIVE_OFFSET_MAX
    lost = Lost(end - position)
    damaged = _damaged_header(segment, position, end, expected, highest)
    if damaged is not None:
        lost = lost.plus(_of(damaged))
        expected = damaged.next_offset
    for _, header in walk_past_damage(segment.disk, fd, position, end, expected, highest):
        lost = lost.plus(_of(header)).plus(Lost(whole_batches=1))
    return lost


def _of(header: BatchHeader) -> Lost:
    if header.is_control or not header.record_count:
        return Lost()
    return Lost(0, header.record_count, header.base_offset, header.last_offset)


def _damaged_header(
    segment: Segment, position: int, end: int, expected: int, highest: int
) -> BatchHeader | None:
    """Of the batch that is not whole or not right, if its header may be believed all the same."""
    data = segment.disk.pread(segment.file.open_fd(), BATCH_OVERHEAD, position)
    if len(data) < BATCH_OVERHEAD:
        return None
    header = parse_header(data)
    plausible = (
        header.magic == MAGIC_V2
        and header.base_offset == expected
        and 0 < header.record_count == header.last_offset_delta + 1
        and header.last_offset <= highest
        and header.batch_length >= header.record_count
    )
    return header if plausible else None
