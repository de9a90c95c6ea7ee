"""A partition of an internal topic as the journal of a coordinator's machine.

Owns the way between a machine's records and batches in the log. Loading reads the segment files
by itself, so that it can run in a thread while the node serves everybody else, and goes past
whatever cannot be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from penstock.coordinator.passed_over import PassedOver
from penstock.coordinator.segment_reader import Batch, SegmentReader
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode
from penstock.records.plain import iter_pairs
from penstock.replication.partition import Partition
from penstock.storage import names
from penstock.storage.append_check import Origin
from penstock.storage.disk import SequentialFile

RecordT = TypeVar("RecordT")
ReadT = TypeVar("ReadT", covariant=True)


class Decode(Protocol[ReadT]):
    """Records with their offsets from batches; every record of a `doubtful` key is looked into."""

    def __call__(
        self, batches: Iterator[Batch], passed: PassedOver, doubtful: Container[bytes]
    ) -> Iterator[tuple[int, ReadT]]: ...


class PartitionJournal(Generic[RecordT]):
    """`encode` makes batches of records; `decode` makes records with offsets of batches.
    `passed` is what the load could not read."""

    def __init__(
        self,
        partition: Partition,
        clock: Clock,
        encode: Callable[[Sequence[RecordT], int], list[bytearray]],
        decode: Decode[RecordT],
        doubtful: Container[bytes] = (),
    ) -> None:
        self.passed = PassedOver()
        self.leader_epoch = partition.leader_epoch
        """In which this journal may write. A machine that outlives its leadership and wakes up
        later finds another, and writes nothing."""
        self._doubtful = doubtful
        self._partition = partition
        self._clock = clock
        self._encode = encode
        self._decode = decode

    @property
    def end_offset(self) -> int:
        return self._partition.log.end_offset

    def append(self, records: Sequence[RecordT]) -> int:
        self._check_led()
        partition = self._partition
        base_offset = partition.log.end_offset
        now_ms = self._clock.now_ms()
        for batch in self._encode(records, now_ms):
            partition.append(memoryview(batch), now_ms, Origin.COORDINATOR)
        return base_offset

    def _check_led(self) -> None:
        partition = self._partition
        if partition.leader_epoch != self.leader_epoch or not partition.is_led:
            raise ApiError(ErrorCode.NOT_COORDINATOR)

    def is_committed(self, end_offset: int) -> bool:
        return self._partition.log.high_watermark >= end_offset

    async def wait_committed(self, end_offset: int) -> None:
        if self.is_committed(end_offset):
            return
        try:
            await acknowledged(self._partition, end_offset)
        except ApiError as error:
            # Too few replicas are in sync by now, but all that were have it: it will not be lost.
            if error.code is not ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND:
                raise

    def load(self) -> Iterator[tuple[int, RecordT]]:
        return self._decode(self._batches(), self.passed, self._doubtful)

    def _batches(self) -> Iterator[Batch]:
        log = self._partition.log
        start, end = log.log_start_offset, log.end_offset
        for base in list(log.bases):
            path = names.segment_path(log.directory, base, names.LOG)
            with SequentialFile(log.disk, path) as file:
                size = log.disk.stat(path).st_size
                for header, batch in SegmentReader(file, size, base, end, self.passed.damage):
                    if header.next_offset > start:
                        yield header, batch


def readable_pairs(
    batch: Batch, passed: PassedOver
) -> Iterator[tuple[int, bytes | None, bytes | None]]:
    """Offset, key and value of the records of a batch, up to the first that does not decode."""
    try:
        yield from iter_pairs(*batch)
    except ApiError as error:
        passed.batch(batch[0].base_offset, error)


def acknowledged(partition: Partition, end_offset: int) -> asyncio.Future[None]:
    """Done when everything below `end_offset` is as safe as its topic asks; failed if it never
    will be."""
    waiter = _AckWaiter(asyncio.get_running_loop())
    partition.await_acknowledged(end_offset, waiter)
    return waiter.future


class _AckWaiter:
    """Turns the news of a commit into a future."""

    __slots__ = ("future",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[None] = loop.create_future()

    def on_acknowledged(self, partition: Partition) -> None:
        if not self.future.done():
            self.future.set_result(None)

    def on_unacknowledged(self, partition: Partition, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
