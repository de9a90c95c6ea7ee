"""A partition of an internal topic as the journal of a coordinator's machine.

Owns the way between a machine's records and batches in the log. Loading reads the segment files
by itself, so that it can run in a thread while the node serves everybody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from penstock.model.clock import Clock
from penstock.records.header import BatchHeader, iter_batches
from penstock.replication.partition import Partition
from penstock.storage import names
from penstock.storage.append_check import Origin

READ_BYTES = 1 << 20

RecordT = TypeVar("RecordT")
Batch = tuple[BatchHeader, memoryview]


class PartitionJournal(Generic[RecordT]):
    """`encode` makes batches of records; `decode` makes records with offsets of batches."""

    def __init__(
        self,
        partition: Partition,
        clock: Clock,
        encode: Callable[[Sequence[RecordT], int], list[bytearray]],
        decode: Callable[[Iterator[Batch]], Iterator[tuple[int, RecordT]]],
    ) -> None:
        self._partition = partition
        self._clock = clock
        self._encode = encode
        self._decode = decode

    @property
    def end_offset(self) -> int:
        return self._partition.log.end_offset

    def append(self, records: Sequence[RecordT]) -> int:
        base_offset = self._partition.log.end_offset
        now_ms = self._clock.now_ms()
        for batch in self._encode(records, now_ms):
            self._partition.append(memoryview(batch), now_ms, Origin.COORDINATOR)
        return base_offset

    def is_committed(self, end_offset: int) -> bool:
        return self._partition.high_watermark >= end_offset

    async def wait_committed(self, end_offset: int) -> None:
        if not self.is_committed(end_offset):
            await flushed(self._partition, end_offset)

    def load(self) -> Iterator[tuple[int, RecordT]]:
        return self._decode(self._batches())

    def _batches(self) -> Iterator[Batch]:
        log = self._partition.log
        start, end = log.log_start_offset, log.end_offset
        for base in list(log.bases):
            for header, batch in _read_segment(names.segment_path(log.directory, base, names.LOG)):
                if header.next_offset > end:
                    return
                if header.next_offset > start:
                    yield header, batch


def _read_segment(path: str) -> Iterator[Batch]:
    with Path(path).open("rb") as file:
        rest = b""
        while chunk := file.read(READ_BYTES):
            data = memoryview(rest + chunk)
            pos = 0
            for pos, header in iter_batches(data, 0, len(data)):
                yield header, data[pos : pos + header.size]
                pos += header.size
            rest = bytes(data[pos:])


def flushed(partition: Partition, end_offset: int) -> asyncio.Future[None]:
    """Done when everything below `end_offset`, not on disk yet, is; failed if it never will be."""
    waiter = _FlushWaiter(asyncio.get_running_loop())
    partition.await_flush(end_offset, waiter)
    return waiter.future


class _FlushWaiter:
    """Turns the news of a flush into a future."""

    __slots__ = ("future",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[None] = loop.create_future()

    def on_flushed(self, partition: Partition) -> None:
        if not self.future.done():
            self.future.set_result(None)

    def on_flush_failed(self, partition: Partition, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
