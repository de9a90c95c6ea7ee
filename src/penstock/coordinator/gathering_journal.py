"""A journal that writes what one read of a connection brought as one batch.

Records that are held count as written: no reply leaves the node before they are, so nobody can tell
the difference. That holds only for records on which nothing but replies depends; which ones those
are is the owner's to say. When they cannot be written after all, the machine has replayed what
never happened, and has to be loaded anew.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TypeVar

from penstock.coordinator.journal import Decode, PartitionJournal
from penstock.model.clock import Clock
from penstock.model.error import StorageError
from penstock.network.held import HeldWrites
from penstock.records.plain import Pair, build_plain_batch
from penstock.replication.partition import Partition
from penstock.storage.append_check import Origin

HELD_BYTES_MAX = 64 * 1024
"""Far below any limit on the size of a batch: one that is refused for its size is one request's."""

RecordT = TypeVar("RecordT")


class GatheringJournal(PartitionJournal[RecordT]):
    """`encode_held` makes keys and values of records that may be held, and None of any others."""

    def __init__(
        self,
        partition: Partition,
        clock: Clock,
        encode: Callable[[Sequence[RecordT], int], list[bytearray]],
        decode: Decode[RecordT],
        held: HeldWrites,
        encode_held: Callable[[Sequence[RecordT]], list[Pair] | None],
        doubtful: Container[bytes] = (),
    ) -> None:
        super().__init__(partition, clock, encode, decode, doubtful)
        self._held = held
        self._encode_held = encode_held
        self._pairs: list[Pair] = []
        self._pairs_bytes = 0
        self.on_lost: Callable[[BaseException], None] | None = None

    @property
    def end_offset(self) -> int:
        return self._partition.log.end_offset + len(self._pairs)

    def append(self, records: Sequence[RecordT]) -> int:
        if self._held.holding:
            pairs = self._encode_held(records)
            if pairs is not None and (size := _size_of(pairs)) <= HELD_BYTES_MAX:
                return self._hold(pairs, size)
        self._settle()
        return super().append(records)

    def is_committed(self, end_offset: int) -> bool:
        if self._pairs:
            # Written before any reply leaves, and that is all they wait for in a topic like this.
            return self._partition.commits_on_append
        return super().is_committed(end_offset)

    def _hold(self, pairs: list[Pair], size: int) -> int:
        if self._pairs_bytes + size > HELD_BYTES_MAX:
            self._settle()
        self._pairs_bytes += size
        held = self._pairs
        base_offset = self._partition.log.end_offset + len(held)
        if not held:
            self._held.add(self._write)
        held += pairs
        return base_offset

    def _settle(self) -> None:
        """In front of what must not stand before it."""
        if self._pairs and not self._write():
            self._held.lose()
            raise StorageError("what was gathered could not be written")

    def _write(self) -> bool:
        pairs, self._pairs, self._pairs_bytes = self._pairs, [], 0
        if not pairs:
            return True
        try:
            self._check_led()
            now_ms = self._clock.now_ms()
            batch = memoryview(build_plain_batch(pairs, now_ms))
            self._partition.append(batch, now_ms, Origin.COORDINATOR)
        except Exception as error:
            if self.on_lost is not None:
                self.on_lost(error)
            return False
        return True


def _size_of(pairs: list[Pair]) -> int:
    size = 0
    for key, value in pairs:
        size += len(key) + (0 if value is None else len(value))
    return size
