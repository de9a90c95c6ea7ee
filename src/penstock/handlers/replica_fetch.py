"""The fetch of a broker that follows a leader here: what it asks for says what it has."""

from __future__ import annotations

from typing import NamedTuple

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.handlers.fetch import Fetch
from penstock.handlers.fetch_session import FetchContext, FetchTarget
from penstock.protocol.messages.fetch import FetchRequest, PartitionData
from penstock.replication.partition import Partition

STATE_FROM = 15
NO_EPOCH = -1


class Replica(NamedTuple):
    broker_id: int
    broker_epoch: int


def replica_of(request: FetchRequest, version: int) -> Replica | None:
    """None for consumers."""
    if version < STATE_FROM:
        return Replica(request.replica_id, NO_EPOCH) if request.replica_id >= 0 else None
    state = request.replica_state
    if state is None or state.replica_id < 0:
        return None
    return Replica(state.replica_id, state.replica_epoch)


class ReplicaFetch(Fetch):
    """Reads to the end of the log, from the leader alone, and waits for appends, not commits."""

    __slots__ = ("_is_noted", "_replica")

    def __init__(
        self,
        broker: Broker,
        request: FetchRequest,
        call: Call,
        context: FetchContext,
        replica: Replica,
    ) -> None:
        super().__init__(broker, request, call, context)
        self._rack = ""
        self._replica = replica
        self._is_noted = False

    def read(self) -> None:
        super().read()
        # A look that comes later says nothing new of what the follower has.
        self._is_noted = True

    def on_append(self, partition: Partition) -> None:
        self._wake()

    def _replica_of(self, target: FetchTarget) -> Partition:
        partitions = self._broker.partitions
        if target.topic:
            return partitions.by_name(target.topic, target.index)
        return partitions.by_id(target.topic_id, target.index)

    def _bound(self, partition: Partition, target: FetchTarget) -> int:
        if not self._is_noted:
            broker_id, broker_epoch = self._replica
            partition.on_replica_fetch(
                broker_id, broker_epoch, target.offset, target.log_start_offset
            )
        return partition.log.end_offset

    def _locate(
        self, partition: Partition, target: FetchTarget, bound: int
    ) -> PartitionData | None:
        leader = partition.leader
        progress = None if leader is None else leader.progress(self._replica.broker_id)
        if progress is not None and progress.sent_from == target.offset:
            # It was sent these records, and asks for them again: perhaps they are damaged.
            partition.log.distrust()
        data = super()._locate(partition, target, bound)
        if progress is not None and data is not None:
            progress.sent_from = target.offset
        return data

    def _watch_one(self, partition: Partition) -> None:
        partition.watch_appends(self)

    def _unwatch_one(self, partition: Partition) -> None:
        partition.unwatch_appends(self)
