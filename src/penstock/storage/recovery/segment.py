"""Bringing one segment back to order after a crash.

Batches behind the recovery point may be torn or half lost, so each is checked in full; what
stands before it was synced and is only walked, to rebuild the indexes. The file is cut where the
first batch that is not whole and right begins.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.records.header import BatchHeader, CorruptBatch
from penstock.storage.batch_walk import read_batch, walk_batches
from penstock.storage.epoch_cache import EpochCache
from penstock.storage.index.rebuild import RELATIVE_OFFSET_MAX, note_batch, settle
from penstock.storage.index.txn import AbortedTxn
from penstock.storage.producer.state import ProducerState
from penstock.storage.recovery.loss import Lost, lost_behind
from penstock.storage.recovery.replay import replay_batch
from penstock.storage.segment import Segment


class Cut(NamedTuple):
    """Where a segment ends now that did not end there before."""

    position: int
    offset: int
    damage: CorruptBatch
    lost: Lost


def recover_segment(
    segment: Segment,
    recovery_point: int,
    producers: ProducerState,
    epochs: EpochCache,
    *,
    keep_whole: bool = False,
) -> Cut | None:
    """Rebuild indexes, producers and epochs from the batches, and cut what is not whole. With
    `keep_whole` no batch goes that is: CorruptBatch says what stands in front of it."""
    length = segment.size
    fd = segment.file.pin()
    try:
        segment.forget()
        segment.txn_index.reset()
        damage = _take_batches(segment, fd, length, recovery_point, producers, epochs)
        expected = segment.next_offset()
        if damage is not None and expected < recovery_point:
            # Synced batches follow, and their beginning cannot be found: this is rot, not a
            # torn end. Cutting would drop them silently.
            raise CorruptBatch(f"{segment.path} is damaged: {damage}")
        cut = None
        if damage is not None:
            lost = lost_behind(segment, segment.size, length, expected)
            cut = Cut(segment.size, expected, damage, lost)
            if keep_whole and lost.whole_batches:
                raise CorruptBatch(
                    f"{segment.path} is damaged ({damage}) in front of {lost.whole_batches} whole "
                    f"batches, which were probably committed. To give them up, cut it there: "
                    f"truncate -s {segment.size} {segment.path}"
                )
            segment.disk.ftruncate(fd, segment.size)
        settle(segment)
        return cut
    finally:
        segment.file.unpin()


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
            note_batch(segment, position, header)
            _tell(segment, position, header, producers, epochs)
            expected = header.next_offset
    except CorruptBatch as damage:
        return damage
    return None


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
