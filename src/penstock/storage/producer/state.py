"""The producers of one log: sequence numbers, epochs, open transactions.

Decides whether a batch continues its producer's sequence, repeats one of its last five batches
or is out of order, and which transactions are open. Checking changes nothing; `apply` is called
once the batch is written, and by replay when a log opens, so that both agree. Never reads or
writes a file: see `snapshot`, and `recall` for what snapshots leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from penstock.model.error import ApiError, ErrorCode
from penstock.records.control import EndMarker
from penstock.records.header import SEQUENCE_MAX, TRANSACTIONAL_BIT, BatchHeader
from penstock.storage.producer.entry import (
    NO_EPOCH,
    NO_TXN,
    ProducerEntry,
    Stored,
    WrittenBatch,
)
from penstock.storage.producer.verification import Verifications

_as_batch = tuple.__new__


class CompletedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class ProducerState:
    __slots__ = (
        "_entries",
        "_ongoing",
        "_stored",
        "_unreplicated",
        "end_offset",
        "find_earlier",
        "verifications",
    )

    def __init__(self) -> None:
        self._entries: dict[int, ProducerEntry] = {}
        # Straight from the snapshot; turned into entries one by one, when a producer shows up.
        self._stored: dict[int, Stored] = {}
        # First offset -> producer, in offset order; and first offset -> last offset of those
        # completed, which hold back the last stable offset until the marker is replicated.
        self._ongoing: dict[int, int] = {}
        self._unreplicated: dict[int, int] = {}
        self.end_offset = 0
        self.verifications = Verifications()
        self.find_earlier: Callable[[ProducerEntry], list[WrittenBatch]] | None = None
        """The batches that the snapshot left out of an entry, oldest first: the log looks."""

    def load(self, stored: Iterable[Stored], end_offset: int) -> None:
        self.clear(end_offset)
        self._stored = {entry[0]: entry for entry in stored}
        open_txns = ((entry[7], entry[0]) for entry in self._stored.values() if entry[7] != NO_TXN)
        self._ongoing = dict(sorted(open_txns))

    def clear(self, end_offset: int) -> None:
        self._entries.clear()
        self._stored.clear()
        self._ongoing.clear()
        self._unreplicated.clear()
        self.verifications.clear()
        self.end_offset = end_offset

    def freeze(self) -> list[Stored]:
        return [*self._stored.values(), *(entry.freeze() for entry in self._entries.values())]

    def __len__(self) -> int:
        return len(self._entries) + len(self._stored)

    def get(self, producer_id: int) -> ProducerEntry | None:
        entry = self._entries.get(producer_id)
        if entry is None and self._stored:
            stored = self._stored.pop(producer_id, None)
            if stored is not None:
                entry = self._entries[producer_id] = ProducerEntry.thaw(stored)
        return entry

    def active(self) -> Iterator[ProducerEntry]:
        for producer_id in list(self._stored):
            self.get(producer_id)
        return iter(self._entries.values())

    def check(self, header: BatchHeader, *, sequences: bool) -> WrittenBatch | None:
        """The batch already written if this one repeats it; ApiError if it may not follow."""
        entry = self.get(header.producer_id)
        epoch, first = header.producer_epoch, header.base_sequence
        if entry is None:
            if sequences:
                self.verifications.check_first(header.producer_id, epoch, first)
            return None
        if first == entry.next_sequence and epoch == entry.epoch and entry.txn_first_offset < 0:
            # The usual case. What continues a sequence cannot repeat a part of it.
            return None
        if sequences and epoch == entry.epoch:
            duplicate = self._find_duplicate(entry, first, header.last_sequence)
            if duplicate is not None:
                return duplicate
        check_epoch(entry, epoch)
        if sequences:
            check_sequence(entry, epoch, first)
        if entry.txn_first_offset != NO_TXN and not header.is_transactional:
            raise ApiError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {header.producer_id} has an open transaction in this partition and "
                "sent a batch outside of it",
            )
        return None

    def _find_duplicate(
        self, entry: ProducerEntry, first_sequence: int, last_sequence: int
    ) -> WrittenBatch | None:
        duplicate = entry.find_duplicate(first_sequence, last_sequence)
        if duplicate is None and self.find_earlier is not None and entry.may_lack(last_sequence):
            entry.recall(self.find_earlier(entry))
            duplicate = entry.find_duplicate(first_sequence, last_sequence)
        return duplicate

    def check_marker(self, header: BatchHeader, marker: EndMarker) -> None:
        entry = self.get(header.producer_id)
        if entry is None:
            return
        check_epoch(entry, header.producer_epoch)
        if entry.coordinator_epoch > marker.coordinator_epoch:
            raise ApiError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"coordinator epoch {marker.coordinator_epoch} of the marker for producer "
                f"{header.producer_id} is older than {entry.coordinator_epoch}",
            )

    def check_marker_raised(self, producer_id: int, epoch: int) -> None:
        """Markers of transaction version 2 bear a higher epoch than the records they end: one that
        comes late must not end the producer's next transaction (KIP-890)."""
        entry = self.get(producer_id)
        if entry is not None and entry.txn_first_offset != NO_TXN and epoch <= entry.epoch:
            raise ApiError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"epoch {epoch} of the marker for producer {producer_id} does not end its "
                f"transaction of epoch {entry.epoch}",
            )

    def is_in_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether the log shows that a transaction of this producer and epoch is open here."""
        entry = self.get(producer_id)
        return entry is not None and entry.txn_first_offset != NO_TXN and entry.epoch == epoch

    def has_ended_since(self, producer_id: int, offset: int) -> bool:
        """Whether a marker of this producer was written at the offset or behind it."""
        entry = self.get(producer_id)
        return entry is not None and entry.last_marker_offset >= offset

    def apply(self, header: BatchHeader, base_offset: int, timestamp: int) -> None:
        """A data batch of a producer is in the log."""
        delta, first = header.last_offset_delta, header.base_sequence
        last_offset = base_offset + delta
        entry = self._entries.get(header.producer_id) or self._entry(header)
        last = (first + delta) & SEQUENCE_MAX if first >= 0 else first
        fields = (first, last, base_offset, last_offset, timestamp)
        entry.add(header.producer_epoch, _as_batch(WrittenBatch, fields))
        if header.attributes & TRANSACTIONAL_BIT and entry.txn_first_offset == NO_TXN:
            entry.txn_first_offset = base_offset
            self._ongoing[base_offset] = header.producer_id
        self.end_offset = last_offset + 1

    def apply_marker(
        self, header: BatchHeader, marker: EndMarker, offset: int
    ) -> CompletedTxn | None:
        """A marker is in the log; the transaction it ends, unless that wrote nothing here."""
        entry = self._entry(header)
        first_offset = entry.txn_first_offset
        entry.set_epoch(header.producer_epoch)
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp = header.max_timestamp
        entry.txn_first_offset = NO_TXN
        entry.last_marker_offset = offset
        self.end_offset = offset + 1
        if first_offset == NO_TXN:
            return None
        self._ongoing.pop(first_offset, None)
        self._note_unreplicated(first_offset, offset)
        return CompletedTxn(header.producer_id, first_offset, offset, not marker.commit)

    def _note_unreplicated(self, first_offset: int, last_offset: int) -> None:
        """In the order of their beginnings, which is not always that of their ends."""
        is_early = bool(self._unreplicated) and first_offset < next(reversed(self._unreplicated))
        self._unreplicated[first_offset] = last_offset
        if is_early:
            self._unreplicated = dict(sorted(self._unreplicated.items()))

    def release(self, marker_offset: int) -> None:
        """The transaction that ends there holds nothing back any more, replicated or not."""
        self._unreplicated = {
            at: last for at, last in self._unreplicated.items() if last != marker_offset
        }

    def stable_offset_after(self, txn: CompletedTxn) -> int:
        """The last stable offset once this transaction, already taken out, is complete."""
        return next(iter(self._ongoing), txn.last_offset + 1)

    def stable_offset_without(self, first_offset: int, last_offset: int) -> int:
        """The same, while the transaction is still counted among the open ones."""
        others = (at for at in self._ongoing if at != first_offset)
        return next(others, last_offset + 1)

    def first_unstable_offset(self) -> int | None:
        """Where the earliest transaction begins that is open, or whose end is unreplicated."""
        firsts = [next(iter(txns)) for txns in (self._ongoing, self._unreplicated) if txns]
        return min(firsts) if firsts else None

    def advance_high_watermark(self, offset: int) -> None:
        if self._unreplicated:
            self._unreplicated = {
                at: last for at, last in self._unreplicated.items() if last >= offset
            }

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Forget who has not written for that long and has nothing open; how many went."""
        before = len(self)
        limit = now_ms - expiration_ms
        self.verifications.expire(limit)
        self._stored = {
            key: entry
            for key, entry in self._stored.items()
            if entry[5] > limit or entry[7] != NO_TXN
        }
        self._entries = {
            key: entry
            for key, entry in self._entries.items()
            if entry.last_timestamp > limit or entry.txn_first_offset != NO_TXN
        }
        return before - len(self)

    def _entry(self, header: BatchHeader) -> ProducerEntry:
        entry = self.get(header.producer_id)
        if entry is None:
            entry = ProducerEntry(header.producer_id, header.producer_epoch)
            self._entries[header.producer_id] = entry
            self.verifications.forget(header.producer_id)
        return entry


def check_epoch(entry: ProducerEntry, epoch: int) -> None:
    if epoch < entry.epoch:
        raise ApiError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"epoch {epoch} of producer {entry.producer_id} is older than {entry.epoch}",
        )


def check_sequence(entry: ProducerEntry, epoch: int, first: int) -> None:
    if entry.epoch == NO_EPOCH:
        return
    if epoch != entry.epoch:
        if first != 0:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {entry.producer_id} begins epoch {epoch} with sequence {first}",
            )
        return
    last = entry.last_sequence
    if first != last + 1 and not (first == 0 and last == SEQUENCE_MAX):
        raise ApiError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {entry.producer_id} sent sequence {first} after {last}",
        )
