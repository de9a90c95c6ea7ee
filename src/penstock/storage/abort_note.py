"""What the transaction index says of an abort, beside the marker that says it in the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.storage.index.txn import AbortedTxn
from penstock.storage.producer.state import ProducerState
from penstock.storage.segment import Segment


@contextmanager
def noted_abort(
    segment: Segment, producers: ProducerState, producer_id: int, offset: int
) -> Iterator[None]:
    """While the marker itself is written: without its entry it would pass for a commit, and an
    entry without its marker for another abort beside the one that comes."""
    entry = producers.get(producer_id)
    if entry is not None and entry.txn_first_offset >= 0:
        first = entry.txn_first_offset
        stable = producers.stable_offset_without(first, offset)
        segment.txn_index.truncate(offset)
        segment.txn_index.append(AbortedTxn(producer_id, first, offset, stable))
    try:
        yield
    except OSError:
        segment.txn_index.truncate(offset)
        raise
