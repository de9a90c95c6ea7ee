"""Reads from a log what a member may be handed out: whole batches, as they lie in the file.

Walks over their headers only as far as it is asked to, so that nothing is read that is not handed
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.records.header import BatchHeader, CorruptBatch
from penstock.replication.partition import READ_COMMITTED, Partition
from penstock.share import LogBatch
from penstock.storage.batch_walk import walk_batches
from penstock.storage.index.txn import AbortedTxn
from penstock.storage.lookup import aborted_txns
from penstock.storage.slice import FileSlice

CHUNK_BYTES = 16 * 1024


class LogRead:
    """From the batch that holds the offset; `slice` is None where there is nothing."""

    __slots__ = ("_aborted", "_end", "slice")

    def __init__(
        self, partition: Partition, offset: int, max_bytes: int, isolation: int, min_one: bool
    ) -> None:
        bound = partition.bound(isolation)
        self._aborted: Sequence[AbortedTxn] = ()
        self._end = 0
        self.slice: FileSlice | None = None
        if offset >= bound:
            return
        result = partition.read(offset, max_bytes, bound, min_one)
        if result.size_bytes:
            self.slice = result.slices[0]
            if isolation == READ_COMMITTED:
                self._aborted = aborted_txns(partition.log, offset, bound)

    @property
    def size_bytes(self) -> int:
        return 0 if self.slice is None else self.slice.length

    def batches(self) -> Iterator[LogBatch]:
        """One after the other, up to the first that is cut off."""
        part = self.slice
        if part is None:
            return
        start, end = part.position, part.position + part.length
        try:
            for position, header in walk_batches(part.disk, part.fd, start, end, CHUNK_BYTES):
                self._end = position + header.size
                yield LogBatch(header.base_offset, header.last_offset, self._is_dead(header))
        except CorruptBatch:
            # Cut off by the bytes that were asked for.
            return

    def taken(self) -> FileSlice | None:
        """What was walked over; nothing else is sent."""
        part = self.slice
        if part is not None:
            part.length = max(0, self._end - part.position)
        return part

    def release(self) -> None:
        if self.slice is not None:
            self.slice.release()

    def _is_dead(self, header: BatchHeader) -> bool:
        if header.is_control or not header.record_count:
            return True
        return header.is_transactional and any(
            txn.producer_id == header.producer_id
            and txn.first_offset <= header.base_offset <= txn.last_offset
            for txn in self._aborted
        )
