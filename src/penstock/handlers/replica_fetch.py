"""The fetch of a broker that follows a leader here: what it asks for says what it has."""

from __future__ import annotations

from typing import NamedTuple

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.handlers.fetch import Fetch
from penstock.handlers.fetch_session import FetchContext, FetchTarget
from penstock.protocol.messages.fetch import FetchRequest, FetchResponse, PartitionData
from penstock.replication.partition import Partition
from penstock.replication.throttle import PartitionThrottle

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

    __slots__ = ("_is_noted", "_replica", "_throttled")

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
        self._throttled: list[tuple[PartitionThrottle, int]] = []

    def read(self) -> None:
        super().read()
        # A look that comes later says nothing new of what the follower has.
        self._is_noted = True

    def _locate(
        self, partition: Partition, target: FetchTarget, bound: int
    ) -> PartitionData | None:
        throttle, leader = partition.throttle, partition.leader
        if throttle is None or leader is None:
            return super()._locate(partition, target, bound)
        is_in_sync = self._replica.broker_id in leader.isr
        if throttle.holds_back(is_in_sync, self._broker.clock.monotonic()):
            return None
        before = self._bytes
        data = super()._locate(partition, target, bound)
        self._throttled.append((throttle, self._bytes - before))
        return data

    def _drop(self) -> None:
        super()._drop()
        self._throttled.clear()

    def answer(self) -> FetchResponse:
        for throttle, size_bytes in self._throttled:
            throttle.note_sent(size_bytes, self._broker.clock.monotonic())
        return super().answer()

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

    def _watch_one(self, partition: Partition) -> None:
        partition.watch_appends(self)

    def _unwatch_one(self, partition: Partition) -> None:
        partition.unwatch_appends(self)
