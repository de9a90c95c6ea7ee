"""Finding batches that are not what was written.

Decides nothing: what becomes of the log is for who knows of other replicas.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.records.header import CorruptBatch
from penstock.storage.batch_walk import read_batch, walk_batches
from penstock.storage.disk import Disk
from penstock.storage.log import Log
from penstock.storage.segment import Segment


class Checked(NamedTuple):
    position: int
    """Up to here batches are whole and right."""
    offset: int
    """The one that is due there."""
    damage: str | None = None


class Stretch(NamedTuple):
    """A piece of a segment file, and the offsets that may stand in it."""

    start: int
    end: int
    first_offset: int
    end_offset: int


def check_batches(disk: Disk, fd: int, stretch: Stretch, max_bytes: int) -> Checked:
    """No more than so many bytes of it, or one batch. Blocks on the disk: for a thread.

    The checksum does not cover the offset: only its neighbours give it away. Where two contradict
    each other, neither is good."""
    start, end, expected, end_offset = stretch
    position = start
    before = (start, expected)
    try:
        for found, header in walk_batches(disk, fd, start, end):
            if found > start and found + header.size - start > max_bytes:
                break
            if header.base_offset < expected:
                position, due = before
                what = f"offset {header.base_offset} where {expected} is due"
                return Checked(position, due, what)
            if header.next_offset > end_offset or header.last_offset < header.base_offset:
                raise CorruptBatch(f"offset {header.last_offset} is behind {end_offset}")
            read_batch(disk, fd, found, header)
            before = position, expected
            position, expected = found + header.size, header.next_offset
    except CorruptBatch as damage:
        return Checked(position, expected, str(damage))
    return Checked(position, expected)


def first_damage(log: Log, base_offset: int) -> tuple[Segment, Checked] | None:
    """In the segment of that base offset, or in a later one; None if all is well. Blocks on the
    disk: for a thread; what is appended meanwhile is not looked at."""
    segments = [each for each in log.segments if each.base_offset >= base_offset]
    for segment, stretch in zip(segments, [whole(log, each) for each in segments], strict=True):
        fd = segment.file.pin()
        try:
            checked = check_batches(segment.disk, fd, stretch, stretch.end)
        finally:
            segment.file.unpin()
        if checked.damage is not None:
            return segment, checked
    return None


def whole(log: Log, segment: Segment) -> Stretch:
    """All of a segment as it is now."""
    slot = log.segments.index(segment) + 1
    end_offset = log.bases[slot] if slot < len(log.bases) else log.end_offset
    return Stretch(0, segment.size, segment.base_offset, end_offset)
