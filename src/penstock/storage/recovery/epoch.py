"""Leader epochs found again in the batches of a log, when their file cannot be read.

Epochs only grow along a log: a segment that begins in the same epoch as the next one holds no
change, and is not walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.records.header import BatchHeader, CorruptBatch
from penstock.storage.epoch_cache import EpochCache
from penstock.storage.segment import Segment


def rebuild_epochs(segments: Sequence[Segment]) -> EpochCache:
    """A damaged batch hides what stands behind it in its segment, and no more."""
    epochs = EpochCache()
    firsts = [next(_batches(segment), None) for segment in segments]
    for slot, first in enumerate(firsts):
        if first is None:
            continue
        _assign(epochs, first)
        following = next((one for one in firsts[slot + 1 :] if one is not None), None)
        if following is None or following.partition_leader_epoch != first.partition_leader_epoch:
            for header in _batches(segments[slot]):
                _assign(epochs, header)
    epochs.changed = True
    return epochs


def _batches(segment: Segment) -> Iterator[BatchHeader]:
    try:
        for _, header in segment.batches():
            yield header
    except CorruptBatch:
        return


def _assign(epochs: EpochCache, header: BatchHeader) -> None:
    if header.partition_leader_epoch > epochs.latest:
        epochs.assign(header.partition_leader_epoch, header.base_offset)
