"""The fetch of a broker that follows a leader here: what it asks for says what it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.handlers.fetch import Fetch
from penstock.handlers.fetch_session import FetchTarget, Replica
from penstock.handlers.fetch_sessions import FetchContext
from penstock.model.acl import CLUSTER_NAME, Operation, ResourceType
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.fetch import FetchRequest, FetchResponse, PartitionData
from penstock.replication.partition import Partition
from penstock.replication.throttle import PartitionThrottle

if TYPE_CHECKING:
    from penstock.security.access import Access

STATE_FROM = 15
NO_EPOCH = -1


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
        self._replica = replica
        self._is_noted = False
        self._throttled: list[tuple[PartitionThrottle, int]] = []
        super().__init__(broker, request, call, context)

    def _check_allowed(self, access: Access, target: FetchTarget) -> None:
        if not access.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME):
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    def _begin(self) -> None:
        self._rack = ""
        if self._access is not None:
            self._session.fetch_with(self._access)
        if self._is_outdated():
            self._session.stir_all()
        self._session.fetch_as(self._replica, self._broker.clock.now_ms())

    def _is_outdated(self) -> bool:
        """Sent before the broker was started anew: every partition refuses it."""
        broker_id, broker_epoch = self._replica
        broker = self._broker.image.brokers.get(broker_id)
        return broker_epoch != NO_EPOCH and broker is not None and broker_epoch < broker.epoch

    def read(self) -> None:
        super().read()
        # A look that comes later says nothing new of what the follower has.
        self._is_noted = True

    def _locate(
        self, partition: Partition, target: FetchTarget, bound: int
    ) -> PartitionData | None:
        throttle, leader = partition.throttle, partition.leader
        if leader is None:
            return super()._locate(partition, target, bound)
        is_in_sync = self._replica.broker_id in leader.isr
        if throttle and throttle.holds_back(is_in_sync, self._broker.clock.monotonic()):
            return None
        progress = leader.progress(self._replica.broker_id)
        if progress is not None and progress.sent_from == target.offset:
            # It was sent these records, and asks for them again: perhaps they are damaged.
            partition.log.distrust()
        before = self._bytes
        data = super()._locate(partition, target, bound)
        if progress is not None and data is not None:
            progress.sent_from = target.offset
        if throttle is not None:
            self._throttled.append((throttle, self._bytes - before))
        return data

    def _drop(self) -> None:
        super()._drop()
        self._throttled.clear()

    def answer(self) -> FetchResponse:
        for throttle, size_bytes in self._throttled:
            throttle.note_sent(size_bytes, self._broker.clock.monotonic())
        return super().answer()

    def _may_rest(self, partition: Partition, target: FetchTarget) -> bool:
        """Not while the watermark or the in-sync set may move by another fetch."""
        log, leader = partition.log, partition.leader
        return (
            log.high_watermark == log.end_offset
            and leader is not None
            and self._replica.broker_id in leader.isr
            and super()._may_rest(partition, target)
        )

    def _replica_of(self, target: FetchTarget) -> Partition:
        partitions = self._broker.partitions
        if not self._session.uses_topic_ids:
            return partitions.by_name(target.topic, target.index)
        return partitions.by_id(target.topic_id, target.index)

    def _bound(self, partition: Partition, target: FetchTarget) -> int:
        if not self._is_noted:
            self._note(partition, target)
        return partition.log.end_offset

    def _note(self, partition: Partition, target: FetchTarget) -> None:
        broker_id, broker_epoch = self._replica
        try:
            partition.on_replica_fetch(
                broker_id, broker_epoch, target.offset, target.log_start_offset
            )
        except ApiError as error:
            if error.code is ErrorCode.UNKNOWN_LEADER_EPOCH and target.current_leader_epoch < 0:
                # It named no epoch that could be unknown.
                raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, error.message) from error
            raise
