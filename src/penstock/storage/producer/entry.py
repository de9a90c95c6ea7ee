"""What a log remembers of one idempotent or transactional producer, and the file of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from penstock.records.checksum import crc32c
from penstock.records.header import SEQUENCE_MAX

BATCHES_KEPT = 5
NO_EPOCH = -1
NO_TXN = -1

_PREFIX = Struct(">hII")
_CRC_END = 6
_ENTRY = Struct(">qhiqiqiq")
_VERSION = 1

Stored = tuple[int, int, int, int, int, int, int, int]
"""(producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch,
first offset of the open transaction), as in the snapshot file."""


class WrittenBatch(NamedTuple):
    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


class ProducerEntry:
    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "is_whole",
        "last_marker_offset",
        "last_timestamp",
        "next_sequence",
        "producer_id",
        "txn_first_offset",
    )

    def __init__(self, producer_id: int, epoch: int = NO_EPOCH) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.coordinator_epoch = -1
        self.last_timestamp = -1
        self.last_marker_offset = -1
        """Of what was written since the log was opened."""
        self.txn_first_offset = NO_TXN
        self.batches: list[WrittenBatch] = []
        self.next_sequence = 0
        self.is_whole = True
        """Whether `batches` has all there are of the last five: a snapshot brings only the last."""

    @classmethod
    def thaw(cls, stored: Stored) -> ProducerEntry:
        entry = cls(stored[0], stored[1])
        _, _, last_sequence, last_offset, delta, timestamp, coordinator_epoch, txn = stored
        entry.coordinator_epoch = coordinator_epoch
        entry.last_timestamp = timestamp
        entry.txn_first_offset = txn
        if last_offset >= 0:
            first = (last_sequence - delta) & SEQUENCE_MAX if last_sequence >= 0 else last_sequence
            entry.batches = [
                WrittenBatch(first, last_sequence, last_offset - delta, last_offset, timestamp)
            ]
            entry.next_sequence = (last_sequence + 1) & SEQUENCE_MAX
            entry.is_whole = False
        return entry

    def freeze(self) -> Stored:
        sequence, offset, delta = -1, -1, 0
        if self.batches:
            last = self.batches[-1]
            sequence, offset = last.last_sequence, last.last_offset
            delta = last.last_offset - last.first_offset
        return (
            self.producer_id,
            self.epoch,
            sequence,
            offset,
            delta,
            self.last_timestamp,
            self.coordinator_epoch,
            self.txn_first_offset,
        )

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else -1

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()
            self.next_sequence = 0
            self.is_whole = True

    def recall(self, earlier: list[WrittenBatch]) -> None:
        """What the snapshot left out, oldest first."""
        self.batches[:0] = earlier
        self.is_whole = True

    def add(self, epoch: int, batch: WrittenBatch) -> None:
        if epoch != self.epoch:
            self.set_epoch(epoch)
        batches = self.batches
        if len(batches) == BATCHES_KEPT:
            del batches[0]
        batches.append(batch)
        self.next_sequence = (batch[1] + 1) & SEQUENCE_MAX
        self.last_timestamp = batch[4]

    def find_duplicate(self, first_sequence: int, last_sequence: int) -> WrittenBatch | None:
        for batch in self.batches:
            if batch.first_sequence == first_sequence and batch.last_sequence == last_sequence:
                return batch
        return None

    def may_lack(self, last_sequence: int) -> bool:
        """Whether a batch up to this sequence may be one that the snapshot left out."""
        if self.is_whole or last_sequence < 0:
            return False
        behind = (self.last_sequence - last_sequence) & SEQUENCE_MAX
        return 0 < behind <= SEQUENCE_MAX // 2 and len(self.batches) < BATCHES_KEPT


def encode_snapshot(entries: Iterable[Stored]) -> bytes:
    body = b"".join(_ENTRY.pack(*entry) for entry in entries)
    count = (len(body) // _ENTRY.size).to_bytes(4, "big")
    return _VERSION.to_bytes(2, "big") + crc32c(count + body).to_bytes(4, "big") + count + body


def decode_snapshot(data: bytes) -> list[Stored] | None:
    """None for anything that is not a whole snapshot with a right checksum."""
    try:
        version, crc, count = _PREFIX.unpack_from(data)
        entries = list(_ENTRY.iter_unpack(data[_PREFIX.size :]))
    except StructError:
        return None
    if version != _VERSION or count != len(entries) or crc32c(data[_CRC_END:]) != crc:
        return None
    return entries
