"""Questions about a log other than "what stands at this offset": by time, by epoch, by abort."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from penstock.records.header import BatchHeader
from penstock.records.time_search import find_timestamp
from penstock.storage.batch_walk import read_batch
from penstock.storage.index.txn import AbortedTxn
from penstock.storage.index.txn_check import check_txn_index
from penstock.storage.locate import locate
from penstock.storage.log import Log
from penstock.storage.segment import Search, Segment


class TimedOffset(NamedTuple):
    offset: int
    timestamp: int
    leader_epoch: int


@contextmanager
def _reading(log: Log) -> Iterator[None]:
    """An error of the disk is the log's to judge, as when it reads itself."""
    try:
        yield
    except OSError as error:
        log.fail_read(error)


def offset_for_timestamp(
    log: Log, timestamp: int, start_offset: int = 0, search: Search = find_timestamp
) -> TimedOffset | None:
    """The first record at or behind the offset that is as late as the timestamp. `search` looks
    into a batch."""
    start_offset = max(start_offset, log.log_start_offset)
    with _reading(log):
        for segment in log.segments:
            if segment.size and _newest(segment) >= timestamp:
                found = segment.find_timestamp(timestamp, start_offset, search)
                if found is not None:
                    return timed_offset(log, found)
    return None


def max_timestamp_offset(
    log: Log, start_offset: int = 0, search: Search = find_timestamp
) -> TimedOffset | None:
    """The record with the largest timestamp, the earliest of several."""
    start_offset = max(start_offset, log.log_start_offset)
    with _reading(log):
        newest = max((s for s in log.segments if s.size), key=_newest, default=None)
        if newest is None or _newest(newest) < 0:
            return None
        found = newest.find_timestamp(_newest(newest), start_offset, search)
    return timed_offset(log, found) if found else None


class FoundBatch(NamedTuple):
    header: BatchHeader
    segment: Segment
    position: int

    def read(self) -> bytes:
        """All of it, its checksum verified."""
        return read_batch(
            self.segment.disk, self.segment.file.open_fd(), self.position, self.header
        )


def batch_at(log: Log, offset: int, bound: int) -> FoundBatch | None:
    """The batch of records that holds the offset, or the next one before the bound; markers of
    transactions are none."""
    offset = max(offset, log.log_start_offset)
    with _reading(log):
        while (place := locate(log, offset, bound)) is not None:
            segment, _, found = place
            header = segment.header_at(found.position)
            if header.record_count and not header.is_control:
                return FoundBatch(header, segment, found.position)
            offset = header.next_offset
    return None


def timed_offset(log: Log, found: tuple[int, int]) -> TimedOffset:
    return TimedOffset(*found, log.epochs.epoch_at(found[0]))


def end_offset_for_epoch(log: Log, epoch: int) -> tuple[int, int]:
    """(largest known epoch not above, offset behind its last record); (-1, -1) if unknown."""
    return log.epochs.end_offset(epoch, log.end_offset)


def aborted_txns(log: Log, start_offset: int, end_offset: int) -> list[AbortedTxn]:
    """Aborted transactions with records in the half-open range, by the end of each."""
    with _reading(log):
        return _aborted_txns(log, start_offset, end_offset)


def _aborted_txns(log: Log, start_offset: int, end_offset: int) -> list[AbortedTxn]:
    found: list[AbortedTxn] = []
    slot = max(bisect_right(log.bases, start_offset) - 1, 0)
    for segment in log.segments[slot:]:
        if not segment.txn_index.checked:
            check_txn_index(log, segment)
        if segment.txn_index.collect(start_offset, end_offset, found):
            break
    return found


def last_stable_offset(log: Log) -> int:
    """Behind it stands nothing that could still be aborted."""
    unstable = log.producers.first_unstable_offset()
    if unstable is None or unstable >= log.high_watermark:
        return log.high_watermark
    return max(unstable, log.log_start_offset)


def _newest(segment: Segment) -> int:
    known = segment.max_timestamp
    return segment.load_max_timestamp() if known is None else known
