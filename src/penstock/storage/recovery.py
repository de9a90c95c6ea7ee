"""Bringing one segment back to order after a crash.

Batches behind the recovery point may be torn or half lost, so each is checked in full; what
stands before it was synced and is only walked, to rebuild the indexes. The file is cut where the
first batch that is not whole and right begins.
"""

from __future__ import annotations

import logging

from penstock.records.header import NO_TIMESTAMP, BatchHeader, CorruptBatch
from penstock.storage.batch_walk import read_batch, walk_batches
from penstock.storage.epoch_cache import EpochCache
from penstock.storage.producer_state import ProducerState
from penstock.storage.replay import replay_batch
from penstock.storage.segment import NO_TAIL, RELATIVE_OFFSET_MAX, Segment
from penstock.storage.txn_index import AbortedTxn

_logger = logging.getLogger(__name__)


def recover_segment(
    segment: Segment, recovery_point: int, producers: ProducerState, epochs: EpochCache
) -> int:
    """Rebuild indexes, producers and epochs from the batches; how many bytes were cut."""
    length = segment.size
    fd = segment.file.pin()
    try:
        _forget(segment)
        damage = _take_batches(segment, fd, length, recovery_point, producers, epochs)
        if damage is not None and segment.next_offset() < recovery_point:
            # Synced batches follow, and their beginning cannot be found: this is rot, not a
            # torn end. Cutting would drop them silently.
            raise CorruptBatch(f"{segment.path} is damaged: {damage}")
        cut = length - segment.size
        if cut:
            segment.disk.ftruncate(fd, segment.size)
            _logger.warning(
                "cut %d bytes from the end of %s at position %d (offset %d): %s",
                cut,
                segment.path,
                segment.size,
                segment.next_offset(),
                damage,
            )
        _settle(segment)
        return cut
    finally:
        segment.file.unpin()


def rebuild_indexes(segment: Segment) -> None:
    """An index file is missing or makes no sense: make it anew, and cut nothing."""
    length = segment.size
    _forget(segment, keep_txns=True)
    try:
        for position, header in walk_batches(segment.disk, segment.file.open_fd(), 0, length):
            _note(segment, position, header)
    except CorruptBatch as damage:
        _logger.error("%s is damaged behind offset %d: %s", segment.path, segment.size, damage)
    segment.size = length
    _settle(segment)


def _settle(segment: Segment) -> None:
    segment.seal()
    for index in (segment.index, segment.time_index):
        index.trim()
        index.close()
    segment.verified_from = segment.verified_to = segment.size


def _forget(segment: Segment, *, keep_txns: bool = False) -> None:
    segment.index.reset()
    segment.time_index.reset()
    if not keep_txns:
        segment.txn_index.reset()
    segment.size = segment.bytes_since_index = 0
    segment.tail_base = NO_TAIL
    segment.max_timestamp = segment.first_timestamp = -1
    segment.verified_from = segment.verified_to = 0


def _take_batches(
    segment: Segment,
    fd: int,
    length: int,
    recovery_point: int,
    producers: ProducerState,
    epochs: EpochCache,
) -> CorruptBatch | None:
    expected = segment.base_offset
    try:
        for position, header in walk_batches(segment.disk, fd, 0, length):
            if not expected <= header.base_offset <= header.last_offset:
                raise CorruptBatch(f"offset {header.base_offset} where {expected} is due")
            if header.last_offset - segment.base_offset > RELATIVE_OFFSET_MAX:
                raise CorruptBatch(f"offset {header.last_offset} is too far from the base")
            if header.last_offset >= recovery_point:
                read_batch(segment.disk, fd, position, header)
            _note(segment, position, header)
            _tell(segment, position, header, producers, epochs)
            expected = header.next_offset
    except CorruptBatch as damage:
        return damage
    return None


def _note(segment: Segment, position: int, header: BatchHeader) -> None:
    # A batch that compaction has emptied has no record for the time index to lead to.
    timestamp = header.max_timestamp if header.record_count else NO_TIMESTAMP
    segment.note_batch(position, header.size, header.base_offset, header.last_offset, timestamp)


def _tell(
    segment: Segment,
    position: int,
    header: BatchHeader,
    producers: ProducerState,
    epochs: EpochCache,
) -> None:
    if header.partition_leader_epoch > epochs.latest:
        epochs.assign(header.partition_leader_epoch, header.base_offset)
    if header.producer_id >= 0:
        completed = replay_batch(producers, segment, position, header)
        if completed is not None and completed.aborted:
            stable = producers.stable_offset_after(completed)
            segment.txn_index.append(AbortedTxn(*completed[:3], stable))
    producers.end_offset = header.next_offset
