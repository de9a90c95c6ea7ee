"""What the replicas of a node share: who the node is, its clock, its logs, and whom to ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.metadata.broker import BrokerImage
from penstock.metadata.partition import PartitionImage
from penstock.model.clock import Clock
from penstock.replication.isr_change import IsrChange
from penstock.replication.leader import Leader
from penstock.replication.safety import epoch_start
from penstock.replication.tally import ReplicaTally
from penstock.storage.log import Log

if TYPE_CHECKING:
    from penstock.replication.partition import Partition


@dataclass(frozen=True, slots=True)
class ReplicaContext:
    """One for all replicas of a node."""

    node_id: int
    clock: Clock
    open_log: Callable[[Partition], Log]
    """With the high watermark it had when it was last written down."""
    flush: Callable[[Log], None]
    """Has the log synced; the log is told when that has happened."""
    broker: Callable[[int], BrokerImage | None]
    broker_epoch: Callable[[], int]
    is_in_touch: Callable[[], bool]
    """Whether the controller cannot have given this node up yet, and made others leaders."""
    lag_max_ms: Callable[[], int]
    checkpoint: Callable[[Log], None]
    """Writes down how far the log is safe and committed, and those of its directory with it."""
    alter_isr: Callable[[Partition, IsrChange], None]
    """Asks the controller; `Partition.on_isr_answer` is told what it said."""
    tally: ReplicaTally = field(default_factory=ReplicaTally)

    def new_leader(self, state: PartitionImage, log: Log | None) -> Leader:
        return Leader(
            self.node_id,
            state,
            self.broker,
            # Of a log that nobody has touched yet it is known when it is opened.
            start_offset=-1 if log is None else epoch_start(log),
            lag_max_ms=self.lag_max_ms(),
            now_ms=self.clock.now_ms(),
        )
