"""The batches of a producer that its snapshot left out, found again in the log.

A snapshot has, as Kafka's, only the last batch of each producer. A producer may have five on their
way when a node stops, and sends all of them again to whoever leads then. Told that the first of
them is out of order, librdkafka gives up for good, and the Java client begins a new epoch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.records.header import SEQUENCE_MAX, BatchHeader, CorruptBatch
from penstock.storage.batch_walk import read_batch
from penstock.storage.producer.entry import BATCHES_KEPT, ProducerEntry, WrittenBatch
from penstock.storage.segment import Segment

HEADERS_MAX = 4096
"""Looked at for one producer, once after a start: a few milliseconds. What it had on its way when
the node stopped lies close to the end."""


def earlier_batches(
    segments: Sequence[Segment], entry: ProducerEntry, headers_max: int = HEADERS_MAX
) -> list[WrittenBatch]:
    """Those before the first that the entry has, oldest first; fewer if they lie too far back."""
    found: list[WrittenBatch] = []
    follower = entry.batches[0]
    try:
        for segment, position, header in _backwards(segments, follower.first_offset, headers_max):
            if header.producer_id != entry.producer_id or header.is_control:
                continue
            if header.producer_epoch != entry.epoch or not _precedes(header, follower):
                break
            # It stands for an acknowledgement: the header alone might be damaged.
            read_batch(segment.disk, segment.file.open_fd(), position, header)
            follower = _written(header)
            found.append(follower)
            if len(found) + len(entry.batches) == BATCHES_KEPT:
                break
    except CorruptBatch:
        # Nothing is known of what lies before it.
        pass
    return found[::-1]


def _backwards(
    segments: Sequence[Segment], offset: int, headers_max: int
) -> Iterator[tuple[Segment, int, BatchHeader]]:
    """(segment, position, header) of each batch before the offset, the last one first."""
    for segment in reversed(segments):
        while segment.base_offset < offset and headers_max > 0:
            stretch = segment.batches_before(offset, headers_max)
            if not stretch:
                break
            for position, header in reversed(stretch):
                yield segment, position, header
            offset = stretch[0][1].base_offset
            headers_max -= len(stretch)


def _precedes(header: BatchHeader, follower: WrittenBatch) -> bool:
    return (
        header.base_sequence >= 0
        and (header.last_sequence + 1) & SEQUENCE_MAX == follower.first_sequence
    )


def _written(header: BatchHeader) -> WrittenBatch:
    return WrittenBatch(
        header.base_sequence,
        header.last_sequence,
        header.base_offset,
        header.last_offset,
        header.max_timestamp,
    )
