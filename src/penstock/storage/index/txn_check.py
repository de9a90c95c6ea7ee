"""Whether the transaction index of a segment says what its batches say.

A wrong one would show aborted records to who reads only committed ones. It bears no checksum, so
that before its first use in a process it is compared with the batches, which costs one walk over
their headers; most segments have no such file and cost nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from penstock.records.header import CorruptBatch
from penstock.storage.damage import IndexDamage
from penstock.storage.index.txn import AbortedTxn
from penstock.storage.producer.state import ProducerState
from penstock.storage.recovery.replay import replay_batch, replay_between

if TYPE_CHECKING:
    from penstock.storage.log import Log
    from penstock.storage.segment import Segment

_logger = logging.getLogger(__name__)


def check_txn_index(log: Log, segment: Segment) -> None:
    index = segment.txn_index
    if not index.is_there():
        index.checked = True
        return
    try:
        written: list[AbortedTxn] | str = index.entries()
    except IndexDamage as damage:
        written = str(damage)
    try:
        told = _told_by_batches(log, segment)
        agree = not isinstance(written, str) and _agree(log, written, told)
        if not agree:
            # Before they overrule the file: are the batches themselves undamaged?
            segment.verify_whole()
    except CorruptBatch as damage:
        if isinstance(written, str):
            raise
        _logger.error("%s cannot be checked: %s", index.path, damage)
        index.checked = True
        return
    if not agree:
        what = written if isinstance(written, str) else f"{index.path} does not fit the batches"
        _logger.warning("the transaction index of %s is made anew: %s", segment.path, what)
        index.replace(told.aborted)
    index.checked = True


class _Told(NamedTuple):
    """What the batches of a segment say."""

    aborted: list[AbortedTxn]
    data: list[tuple[int, int]]
    """Producer and offset of every batch with records of a transaction."""


def _agree(log: Log, written: list[AbortedTxn], told: _Told) -> bool:
    if written == told.aborted:
        return True
    # Compaction keeps the entry of a transaction of which it took records, or all of them. There
    # it counts what a reader would be shown.
    is_compacted = "compact" in log.config.cleanup_policy
    return is_compacted and _hidden(written, told.data) == _hidden(told.aborted, told.data)


def _hidden(aborted: list[AbortedTxn], data: list[tuple[int, int]]) -> list[tuple[int, int]]:
    by_producer: dict[int, list[AbortedTxn]] = {}
    for txn in aborted:
        by_producer.setdefault(txn.producer_id, []).append(txn)
    return [
        (producer_id, offset)
        for producer_id, offset in data
        if any(
            txn.first_offset <= offset <= txn.last_offset
            for txn in by_producer.get(producer_id, ())
        )
    ]


def _told_by_batches(log: Log, segment: Segment) -> _Told:
    producers = _producers_before(log, segment)
    told = _Told([], [])
    for position, header in segment.batches():
        if header.producer_id < 0:
            continue
        if header.is_transactional and not header.is_control and header.record_count:
            told.data.append((header.producer_id, header.base_offset))
        completed = replay_batch(producers, segment, position, header)
        if completed is not None and completed.aborted:
            stable = producers.stable_offset_after(completed)
            told.aborted.append(AbortedTxn(*completed[:3], stable))
    return told


def _producers_before(log: Log, segment: Segment) -> ProducerState:
    producers = ProducerState()
    loaded = log.snapshots.load_latest(segment.base_offset)
    if loaded is None:
        producers.clear(log.bases[0])
    else:
        producers.load(loaded[1], loaded[0])
    replay_between(producers, log.segments, producers.end_offset, segment.base_offset)
    return producers
