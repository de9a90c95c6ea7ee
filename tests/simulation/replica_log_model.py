"""A log in memory with what matters to replication: batches, epochs, and what a power cut leaves.

Batches are real ones but for the records in them. What is appended or cut is on disk only after
`sync`: a power cut leaves what was synced last, or any beginning of what was there since.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple, Protocol

from penstock.records.header import (
    BATCH_OVERHEAD,
    HEADER,
    LOG_OVERHEAD,
    MAGIC_V2,
    iter_batches,
    seal,
)
from penstock.replication.follower import Action, Append, RestartAt, Truncate
from penstock.storage.epoch_cache import EpochCache


class Batch(NamedTuple):
    base: int
    end: int
    epoch: int
    data: bytes


def make_batch(base: int, epoch: int, values: list[int]) -> Batch:
    body = b"".join(map(encode_value, values))
    length = BATCH_OVERHEAD - LOG_OVERHEAD + len(body)
    last = len(values) - 1
    fields = (base, length, epoch, MAGIC_V2, 0, 0, last, 0, 0, -1, -1, -1, len(values))
    data = bytearray(HEADER.pack(*fields) + body)
    seal(data, 0, len(data))
    return Batch(base, base + len(values), epoch, bytes(data))


def encode_value(value: int) -> bytes:
    """No less than a record could be."""
    return value.to_bytes(8, "big")


def split_batches(records: bytes) -> list[Batch]:
    return [
        Batch(
            header.base_offset,
            header.next_offset,
            header.partition_leader_epoch,
            records[position : position + header.size],
        )
        for position, header in iter_batches(records, 0, len(records))
    ]


class SimulatedLog(Protocol):
    """A replica's log together with its disk."""

    high_watermark: int

    @property
    def batches(self) -> list[Batch]: ...
    @property
    def log_start_offset(self) -> int: ...
    @property
    def end_offset(self) -> int: ...
    @property
    def epochs(self) -> EpochCache: ...
    @property
    def synced_offset(self) -> int:
        """Up to where the log itself knows that it is on disk."""
        ...

    @property
    def durable_offset(self) -> int:
        """Up to where it is on disk: more, for instance, when a log was just opened."""
        ...

    @property
    def generation(self) -> int: ...

    def read(self, offset: int, upper_bound: int, count: int) -> list[Batch]: ...
    def append(self, batch: Batch) -> None: ...
    def delete_before(self, offset: int) -> None: ...
    def carry_out(self, action: Action) -> None: ...
    def sync(self) -> None: ...
    def checkpoint(self) -> None: ...
    def lose_power(self, random: Random) -> None: ...
    def reopen(self) -> None: ...


class ModelLog:
    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.log_start_offset = 0
        self.end_offset = 0
        self.high_watermark = 0
        self.epochs = EpochCache()
        self.synced_offset = 0
        self.generation = 0
        self.checkpointed = 0
        self.durable: list[Batch] = []

    # Reading

    @property
    def durable_offset(self) -> int:
        return self.synced_offset

    def read(self, offset: int, upper_bound: int, count: int) -> list[Batch]:
        slot = self._slot(offset)
        found = self.batches[slot : slot + count]
        return [batch for batch in found if batch.base < upper_bound]

    def _slot(self, offset: int) -> int:
        """The first batch that reaches beyond the offset; most questions are about the end."""
        slot = len(self.batches)
        while slot and self.batches[slot - 1].end > offset:
            slot -= 1
        return slot

    # Writing

    def append(self, batch: Batch) -> None:
        assert batch.base >= self.end_offset, "a batch must not overwrite another"
        assert batch.epoch >= self.epochs.latest, "epochs never fall within a log"
        if batch.epoch != self.epochs.latest:
            self.epochs.assign(batch.epoch, batch.base)
        self.batches.append(batch)
        self.end_offset = batch.end

    def truncate_to(self, offset: int) -> None:
        slot = self._slot(offset)
        if slot < len(self.batches):
            self.generation += 1
            offset = min(offset, self.batches[slot].base)
            del self.batches[slot:]
            self.end_offset = offset
            self.synced_offset = min(self.synced_offset, offset)
            self.high_watermark = min(self.high_watermark, offset)
            self.log_start_offset = min(self.log_start_offset, offset)
            # Otherwise a later start would take records for committed that came in their place.
            self.checkpointed = min(self.checkpointed, offset)
        self.epochs.truncate_from(self.end_offset)

    def restart_at(self, offset: int) -> None:
        self.generation += 1
        self.batches.clear()
        self.log_start_offset = self.end_offset = self.synced_offset = offset
        self.high_watermark = max(self.high_watermark, offset)
        self.epochs.clear()

    def delete_before(self, offset: int) -> None:
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.epochs.truncate_before(offset)
            gone = 0
            while gone < len(self.batches) and self.batches[gone].end <= offset:
                gone += 1
            del self.batches[:gone]

    def carry_out(self, action: Action) -> None:
        match action:
            case Truncate(offset):
                self.truncate_to(offset)
            case RestartAt(offset):
                self.restart_at(offset)
            case Append():
                self._append_fetched(action)

    def _append_fetched(self, action: Append) -> None:
        records = bytes(action.records)
        if action.restart_at >= 0:
            self.restart_at(action.restart_at)
            self.high_watermark = min(self.high_watermark, action.restart_at)
        for batch in split_batches(records):
            self.append(batch)
        mark = action.high_watermark(self.end_offset)
        self.high_watermark = max(self.high_watermark, mark)
        self.delete_before(action.log_start_offset(self.high_watermark))

    # The disk

    def sync(self) -> None:
        self.durable = self.batches[:]
        self.synced_offset = self.end_offset

    def checkpoint(self) -> None:
        self.checkpointed = self.high_watermark

    def lose_power(self, random: Random) -> None:
        """What was not synced stays or goes, as the disk likes; what was cut may even be back."""
        synced = self.synced_offset
        back = [batch for batch in self.durable if batch.base >= synced]
        if back and random.random() < 0.5:
            self.batches = [batch for batch in self.batches if batch.end <= synced] + back
            self.end_offset = back[-1].end
        else:
            unsynced = [batch.base for batch in self.batches if batch.base >= synced]
            if unsynced:
                self.truncate_to(random.choice([*unsynced, self.end_offset]))
        self.sync()
        self.reopen()

    def reopen(self) -> None:
        """What a process finds when it starts: epochs as the batches tell, an old watermark."""
        self.generation += 1
        self.epochs = EpochCache()
        for batch in self.batches:
            if batch.epoch > self.epochs.latest:
                self.epochs.assign(batch.epoch, max(batch.base, self.log_start_offset))
        self.high_watermark = min(max(self.checkpointed, self.log_start_offset), self.end_offset)
