"""Batches of idempotent producers that were refused here for now, and come again.

A producer has several batches on their way. Where the first is refused, because this node did not
know yet that it leads or because the in-sync set was too small, the next may arrive when that is
over. It is out of order then, or, from a producer that is new here, it would be taken before the
first one. Told that it is out of order, librdkafka begins a new epoch and writes again what other
partitions may have already (librdkafka #4953). So it is refused for the same reason as the first:
then all of them come again, in their order.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.error import ApiError, ErrorCode
from penstock.records.header import (
    BATCH_OVERHEAD,
    SEQUENCE_MAX,
    BatchHeader,
    Buffer,
    parse_header,
)
from penstock.storage.producer.entry import BATCHES_KEPT, ProducerEntry
from penstock.storage.producer.state import ProducerState

PRODUCERS_MAX = 64
_FOLLOWERS_MAX = BATCHES_KEPT - 1
"""Producers have no more than five batches on their way: what comes later has left one out."""


@dataclass(slots=True)
class _Refused:
    """Of one producer, the first batch that it has to send again."""

    epoch: int
    sequence: int
    code: ErrorCode
    message: str | None
    followers_left: int = _FOLLOWERS_MAX

    def is_before(self, header: BatchHeader) -> bool:
        return header.producer_epoch == self.epoch and _is_behind(
            header.base_sequence, self.sequence
        )

    def is_written(self, entry: ProducerEntry | None) -> bool:
        if entry is None or entry.epoch != self.epoch:
            return False
        return _is_behind(entry.next_sequence, self.sequence)


class Refusals:
    """Of one partition; the producer refused last pushes out the one refused first."""

    __slots__ = ("_refused",)

    def __init__(self) -> None:
        self._refused: dict[int, _Refused] = {}

    def note(self, records: Buffer, error: ApiError) -> None:
        header = _header_of(records)
        if header is None:
            return
        known = self._refused.get(header.producer_id)
        if known is not None and known.is_before(header):
            return
        self._refused.pop(header.producer_id, None)
        if len(self._refused) >= PRODUCERS_MAX:
            del self._refused[next(iter(self._refused))]
        self._refused[header.producer_id] = _Refused(
            header.producer_epoch, header.base_sequence, error.code, error.message
        )

    def check(self, records: Buffer, producers: ProducerState) -> None:
        """ApiError for a batch behind one that was refused and has not come again."""
        header = _header_of(records) if self._refused else None
        known = self._refused.get(header.producer_id) if header is not None else None
        if header is None or known is None:
            return
        is_written = known.is_written(producers.get(header.producer_id))
        if is_written or not known.is_before(header) or not known.followers_left:
            del self._refused[header.producer_id]
            return
        known.followers_left -= 1
        raise ApiError(known.code, known.message)


def _header_of(records: Buffer) -> BatchHeader | None:
    """Nothing is known of the batch yet, not even that it is one."""
    if len(records) < BATCH_OVERHEAD:
        return None
    header = parse_header(records)
    return header if header.producer_id >= 0 and header.base_sequence >= 0 else None


def _is_behind(sequence: int, other: int) -> bool:
    return 0 < (sequence - other) & SEQUENCE_MAX <= SEQUENCE_MAX // 2
