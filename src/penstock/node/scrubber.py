"""Reads every batch of replicated partitions again from time to time, to find what has decayed.

Nobody else reads what a follower has, until it leads. A few megabytes a second, in a thread. Tells
what it found, and mends nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import NamedTuple

from penstock.model.clock import Clock
from penstock.model.id import TopicPartition
from penstock.replication.partition_set import PartitionSet
from penstock.storage.batch_check import Checked, check_batches, whole
from penstock.storage.log import Log
from penstock.storage.segment import Segment
from penstock.telemetry.log import get_logger

STEP_BYTES = 4 << 20

log = get_logger("scrub")


class _Place(NamedTuple):
    log: Log
    segment: Segment
    position: int
    offset: int
    """The one that is due there."""


class Scrubber:
    """`interval_ms`: between the beginnings of two rounds over everything; never if negative."""

    def __init__(
        self,
        partitions: PartitionSet,
        clock: Clock,
        interval_ms: Callable[[], int],
        note: Callable[[TopicPartition, int], None],
    ) -> None:
        self._partitions = partitions
        self._clock = clock
        self._interval_ms = interval_ms
        self._note = note
        self._began_ms: int | None = None
        self._waiting: Iterator[_Place] = iter(())
        self._place: _Place | None = None

    async def step(self) -> None:
        left = STEP_BYTES
        while left > 0:
            place = self._place or next(self._waiting, None)
            self._place = None
            if place is None:
                self._begin_round()
                return
            if place.segment in place.log.segments and not place.log.closed:
                left -= await self._check(place, left)

    def _begin_round(self) -> None:
        """For the next step, if it is time."""
        interval_ms, now_ms = self._interval_ms(), self._clock.now_ms()
        if interval_ms < 0:
            return
        if self._began_ms is None or now_ms - self._began_ms >= interval_ms:
            self._began_ms = now_ms
            self._waiting = self._places()

    def _places(self) -> Iterator[_Place]:
        for partition in list(self._partitions):
            is_alone = partition.is_led and partition.leader is None
            if partition.is_open and not is_alone:
                held = partition.log
                for segment in list(held.segments):
                    yield _Place(held, segment, 0, segment.base_offset)

    async def _check(self, place: _Place, max_bytes: int) -> int:
        held, segment, position, offset = place
        generation = held.generation
        stretch = whole(held, segment)._replace(start=position, first_offset=offset)
        fd = segment.file.pin()
        try:
            checked: Checked = await asyncio.to_thread(
                check_batches, segment.disk, fd, stretch, max_bytes
            )
        finally:
            segment.file.unpin()
        if held.generation != generation or segment not in held.segments:
            return checked.position - position
        if checked.damage is not None:
            log.error("damage found", partition=held.partition, what=checked.damage)
            self._note(held.partition, segment.base_offset)
        elif checked.position < stretch.end:
            self._place = _Place(held, segment, checked.position, checked.offset)
        return checked.position - position
