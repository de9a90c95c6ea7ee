"""One leadership of a partition of a coordinator's topic: from its election to the next leader's.

Owns the machine that was loaded for it, and who waits for that load. What comes of a load after
its leadership is over is nobody's: led again, the partition is loaded anew.
"""

from __future__ import annotations

import asyncio
from typing import Any, Generic, TypeVar

from penstock.coordinator.journal import PartitionJournal
from penstock.machine.state import StateMachine
from penstock.model.error import ApiError, ErrorCode
from penstock.replication.partition import Partition
from penstock.runtime.driver import Runtime

MachineT = TypeVar("MachineT", bound=StateMachine[Any])
RecordT = TypeVar("RecordT")


class Leadership(Generic[MachineT, RecordT]):
    """`ready` is the machine once it may be asked."""

    __slots__ = ("is_over", "journal", "partition", "ready", "runtime")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.is_over = False
        self.runtime: Runtime[MachineT, RecordT] | None = None
        self.journal: PartitionJournal[RecordT] | None = None
        self.ready: asyncio.Future[Runtime[MachineT, RecordT]] = (
            asyncio.get_running_loop().create_future()
        )

    @property
    def is_loading(self) -> bool:
        return not self.ready.done()

    def hold(self, runtime: Runtime[MachineT, RecordT], journal: PartitionJournal[RecordT]) -> None:
        """From now on they end together."""
        self.runtime, self.journal = runtime, journal

    def take_epoch(self, leader_epoch: int) -> bool:
        """Elected again without having lost it: nobody else has written in between. Whether the
        epoch is another."""
        if self.journal is None or leader_epoch <= self.journal.leader_epoch:
            return False
        self.journal.leader_epoch = leader_epoch
        return True

    def succeed(self) -> None:
        if not self.is_over and self.runtime is not None and not self.ready.done():
            self.ready.set_result(self.runtime)

    def fail(self, error: Exception) -> None:
        """The load has failed: the next who asks has it tried again."""
        if not self.ready.done():
            self.ready.set_exception(error)
            self.ready.exception()  # there may be nobody who waits

    def end(self, error: Exception) -> None:
        """Whoever waits looks for the coordinator anew. A disk that failed is told as such."""
        self.is_over = True
        told = ApiError(ErrorCode.NOT_COORDINATOR) if isinstance(error, ApiError) else error
        if self.runtime is not None:
            self.runtime.fail(told)
        self.fail(told)
