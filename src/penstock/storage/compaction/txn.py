"""Transactions as compaction meets them on its way through a log.

Says which batches were aborted, and which markers nobody needs any more because no record of
their transaction is left. Fed with every batch in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from penstock.records.control import ABORT, COMMIT, control_kind
from penstock.records.header import BatchHeader
from penstock.records.record import iter_records
from penstock.storage.index.txn import AbortedTxn


class AbortedSink(Protocol):
    def append(self, txn: AbortedTxn) -> None: ...


class TxnTracker:
    __slots__ = ("_aborted", "_committed", "_pending", "_seen", "sink")

    def __init__(self, aborted: Iterable[AbortedTxn]) -> None:
        # In descending order of their beginning: the next one is at the end.
        self._pending = sorted(aborted, key=lambda txn: txn.first_offset, reverse=True)
        self._aborted: dict[int, AbortedTxn] = {}
        # Producers of an aborted, or of another, transaction of which a batch is still here.
        self._seen: set[int] = set()
        self._committed: set[int] = set()
        self.sink: AbortedSink | None = None

    def is_aborted(self, header: BatchHeader) -> bool:
        """For a batch of data: it belongs to an aborted transaction."""
        self._begin_until(header)
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._seen.add(header.producer_id)
            return True
        self._committed.add(header.producer_id)
        return False

    def is_spent(self, batch: bytes, header: BatchHeader) -> bool:
        """For a control batch: no record is left that needs it."""
        self._begin_until(header)
        if header.record_count == 0:
            return True
        kind = control_kind(next(iter_records(batch)).key)
        if kind == ABORT:
            return self._end_aborted(header.producer_id)
        if kind == COMMIT:
            present = header.producer_id in self._committed
            self._committed.discard(header.producer_id)
            return not present
        return False

    def _end_aborted(self, producer_id: int) -> bool:
        txn = self._aborted.pop(producer_id, None)
        if producer_id not in self._seen:
            return True
        self._seen.discard(producer_id)
        if self.sink is not None and txn is not None:
            self.sink.append(txn)
        return False

    def _begin_until(self, header: BatchHeader) -> None:
        while self._pending and self._pending[-1].first_offset <= header.last_offset:
            txn = self._pending.pop()
            # One that ended before the first batch that is met here will not meet its marker: it
            # would pass for the transactions that its producer began later.
            if txn.last_offset >= header.base_offset:
                self._aborted.setdefault(txn.producer_id, txn)
