"""Reads a partition's log into a machine, in a thread, past what cannot be read.

Owns the tries that this may take, and says what is missing. When a machine is loaded, and for whom,
is its host's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container
from typing import Any, Generic, TypeVar

from penstock.coordinator.journal import PartitionJournal
from penstock.coordinator.leadership import Leadership
from penstock.coordinator.passed_over import PassedOver
from penstock.machine.state import StateMachine
from penstock.model.error import ApiError, ErrorCode
from penstock.replication.partition import Partition
from penstock.runtime.driver import Runtime
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import BrokerMetrics

LOAD_TRIES = 3
"""A compaction may put another file in the place of one that is about to be read."""

MachineT = TypeVar("MachineT", bound=StateMachine[Any])
RecordT = TypeVar("RecordT")

log = get_logger("coordinator")


class LogLoad(Generic[MachineT, RecordT]):
    """`build` gives an empty machine over a partition's log, and the journal between the two."""

    def __init__(
        self,
        build: Callable[
            [Partition, Container[bytes]],
            tuple[Runtime[MachineT, RecordT], PartitionJournal[RecordT]],
        ],
        metrics: BrokerMetrics,
    ) -> None:
        self._build = build
        self._metrics = metrics

    async def read(
        self, led: Leadership[MachineT, RecordT]
    ) -> tuple[Runtime[MachineT, RecordT], PartitionJournal[RecordT]]:
        """A machine with all of the log in it that can be read."""
        partition = led.partition
        doubtful: frozenset[bytes] = frozenset()
        for tries_left in reversed(range(LOAD_TRIES)):
            runtime, journal = self._build(partition, doubtful)
            led.hold(runtime, journal)
            if partition.log.end_offset == partition.log.log_start_offset:
                return runtime, journal
            count = await self._read_into(led, runtime, journal, tries_left)
            found = journal.passed.keys
            if count >= 0 and (found <= doubtful or not tries_left):
                break
            # Once more, so that what is readable of those keys is not lost with the rest.
            doubtful |= found
        log.info(
            "coordinator loaded", topic=partition.topic, partition=partition.index, records=count
        )
        self._report_passed_over(partition, journal.passed)
        return runtime, journal

    async def _read_into(
        self,
        led: Leadership[MachineT, RecordT],
        runtime: Runtime[MachineT, RecordT],
        journal: PartitionJournal[RecordT],
        tries_left: int,
    ) -> int:
        """The number of records; -1 if it has to be tried again."""
        try:
            count = await asyncio.to_thread(runtime.load, journal.passed.replayed)
        except OSError as error:
            if led.is_over:
                raise ApiError(ErrorCode.NOT_COORDINATOR) from error
            if isinstance(error, FileNotFoundError) and tries_left:
                return -1
            log.error("coordinator cannot be loaded", topic=led.partition.topic, error=str(error))
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error)) from error
        if led.is_over:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        return count

    def _report_passed_over(self, partition: Partition, passed: PassedOver) -> None:
        for what, tally in (
            ("records that cannot be read", passed.records),
            ("records of unknown type", passed.unknown),
            ("damaged batches", passed.batches),
        ):
            if not tally.count:
                continue
            log.error(
                "coordinator loaded, but not all of its log",
                missing=what,
                topic=partition.topic,
                partition=partition.index,
                count=tally.count,
                first_offset=tally.first_offset,
                reason=tally.reason,
            )
            self._metrics.count_passed_over(partition.topic, what, tally.count)
