"""Telling the producer state what stands in the log, batch by batch, after a start or a cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from penstock.records.control import EndMarker, parse_end_marker
from penstock.records.header import BatchHeader, Buffer
from penstock.records.record import iter_records
from penstock.storage.batch_walk import read_batch
from penstock.storage.producer.snapshot import SnapshotFiles
from penstock.storage.producer.state import CompletedTxn, ProducerState
from penstock.storage.segment import Segment


def rebuild_producers(
    producers: ProducerState,
    snapshots: SnapshotFiles,
    segments: Sequence[Segment],
    start_offset: int,
    end_offset: int,
) -> None:
    """From the newest good snapshot, and the batches between it and the end."""
    snapshots.keep_between(start_offset, end_offset)
    loaded = snapshots.load_latest(end_offset)
    if loaded is None:
        producers.clear(start_offset)
    else:
        producers.load(loaded[1], loaded[0])
    replay_between(producers, segments, producers.end_offset, end_offset)
    producers.end_offset = end_offset


def replay_between(
    producers: ProducerState, segments: Sequence[Segment], start: int, end: int
) -> None:
    slot = max(bisect_right([segment.base_offset for segment in segments], start) - 1, 0)
    for segment in segments[slot:]:
        if segment.base_offset >= end:
            break
        found = segment.find(start) if segment.base_offset < start else None
        if segment.base_offset < start and found is None:
            continue
        for position, header in segment.batches(found.position if found else 0):
            if header.base_offset >= end:
                break
            if header.base_offset >= start and header.producer_id >= 0:
                replay_batch(producers, segment, position, header)


def replay_batch(
    producers: ProducerState, segment: Segment, position: int, header: BatchHeader
) -> CompletedTxn | None:
    if not header.is_control:
        producers.apply(header, header.base_offset, header.max_timestamp)
        return None
    batch = read_batch(segment.disk, segment.file.open_fd(), position, header)
    marker = read_marker(batch, header)
    if marker is None:
        return None
    return producers.apply_marker(header, marker, header.base_offset)


def read_marker(batch: Buffer, header: BatchHeader) -> EndMarker | None:
    """What a control batch says about a transaction; None if it is about something else."""
    if header.record_count == 0:
        # Compaction has taken the marker and left the empty batch for its sequence.
        return None
    return parse_end_marker(next(iter_records(batch)))
