"""The leader of a partition with several replicas: who is in sync, and what all of them have.

Lives for one leader epoch. Owns the progress of every follower and the in-sync set, committed and
asked for. Reads no log, no clock and no metadata by itself, keeps nobody waiting and sends nothing:
the caller appends, fetches, carries changes of the in-sync set to the controller, and says how far
its own log is as safe as the topic asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from penstock.model.error import ApiError, ErrorCode
from penstock.replication.isr_change import (
    RECOVERED,
    UNCHECKED_EPOCH,
    InSyncReplica,
    IsrAnswer,
    IsrChange,
    Outcome,
    outcome_of_error,
)
from penstock.replication.progress import Progress


class PartitionState(Protocol):
    """What metadata says of a partition, as `metadata.partition.PartitionImage` does."""

    @property
    def leader_epoch(self) -> int: ...
    @property
    def partition_epoch(self) -> int: ...
    @property
    def replicas(self) -> Sequence[int]: ...
    @property
    def isr(self) -> Sequence[int]: ...
    @property
    def leader_recovery_state(self) -> int: ...


class Broker(Protocol):
    """What metadata says of a broker, as `metadata.broker.BrokerImage` does."""

    @property
    def epoch(self) -> int: ...
    @property
    def fenced(self) -> bool: ...
    @property
    def in_controlled_shutdown(self) -> bool: ...


Brokers = Callable[[int], Broker | None]
"""The broker of an id, as the node's image has it at the moment; None if it is not registered."""


class Leader:
    __slots__ = (
        "_brokers",
        "_lag_max_ms",
        "_others",
        "isr",
        "leader_epoch",
        "leader_recovery_state",
        "node_id",
        "partition_epoch",
        "pending",
        "replicas",
        "start_offset",
    )

    def __init__(
        self,
        node_id: int,
        state: PartitionState,
        brokers: Brokers,
        *,
        start_offset: int,
        lag_max_ms: int,
        now_ms: int,
    ) -> None:
        """`start_offset`: where the log ended when this epoch began. The caller notes the epoch
        there (`epochs.assign`), so that followers can ask for its start before it has a record."""
        self.node_id = node_id
        self.leader_epoch = state.leader_epoch
        self.start_offset = start_offset
        self.partition_epoch = state.partition_epoch
        self.replicas = tuple(state.replicas)
        self.isr = tuple(state.isr)
        self.leader_recovery_state = state.leader_recovery_state
        self.pending: IsrChange | None = None
        self._brokers = brokers
        self._lag_max_ms = lag_max_ms
        self._others = [
            Progress(replica, in_isr=replica in self.isr, now_ms=now_ms)
            for replica in self.replicas
            if replica != node_id
        ]

    # What metadata says

    def update(self, state: PartitionState, now_ms: int) -> bool:
        """Something newer of the same leader epoch; whether the watermark may move by it.

        The partition epoch this leader has learnt from an answer comes along with the assignment
        once more: that is taken, but a change asked for since then stays asked for."""
        if state.leader_epoch != self.leader_epoch or state.partition_epoch < self.partition_epoch:
            return False
        self._assign(tuple(state.replicas), tuple(state.isr), now_ms)
        if state.partition_epoch == self.partition_epoch:
            return False
        self._commit(state.partition_epoch, tuple(state.isr), state.leader_recovery_state)
        return True

    def _assign(self, replicas: tuple[int, ...], isr: tuple[int, ...], now_ms: int) -> None:
        if replicas == self.replicas:
            return
        self.replicas = replicas
        known = {one.replica_id: one for one in self._others}
        self._others = [
            known.get(replica) or Progress(replica, in_isr=replica in isr, now_ms=now_ms)
            for replica in replicas
            if replica != self.node_id
        ]

    def _commit(self, partition_epoch: int, isr: tuple[int, ...], recovery_state: int) -> None:
        for one in self._others:
            if one.replica_id in self.isr and one.replica_id not in isr:
                one.note_left()
        self.partition_epoch = partition_epoch
        self.isr = isr
        self.leader_recovery_state = recovery_state
        self.pending = None
        self._mark_maximal()

    # What followers say

    def on_fetch(
        self,
        replica_id: int,
        broker_epoch: int,
        fetch_offset: int,
        log_end_offset: int,
        now_ms: int,
        log_start_offset: int = -1,
    ) -> None:
        """A fetch whose epochs fit and that did not diverge: one that did says nothing of what the
        follower has. ApiError where it changes nothing."""
        progress = self.progress(replica_id)
        if progress is None:
            # Its metadata may be ahead of ours: it asks again.
            raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH, f"{replica_id} is no replica here")
        if broker_epoch != UNCHECKED_EPOCH:
            self._check_broker_epoch(replica_id, broker_epoch)
        if fetch_offset > log_end_offset:
            # What it has is of another log, and it is about to be told so: it counts for nothing.
            return
        progress.on_fetch(broker_epoch, fetch_offset, log_start_offset, log_end_offset, now_ms)

    def _check_broker_epoch(self, replica_id: int, broker_epoch: int) -> None:
        """A request that a broker sent before it was started anew must not count for its log."""
        broker = self._brokers(replica_id)
        if broker is not None and not broker.fenced and broker_epoch < broker.epoch:
            raise ApiError(
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
                f"broker epoch {broker_epoch} of {replica_id} is older than {broker.epoch}",
            )

    def progress(self, replica_id: int) -> Progress | None:
        for one in self._others:
            if one.replica_id == replica_id:
                return one
        return None

    def followers(self) -> Sequence[Progress]:
        return self._others

    # What all have

    def high_watermark(
        self, current: int, own_offset: int, min_isr: int, log_end_offset: int, now_ms: int
    ) -> int:
        """The new one, or the current one. `own_offset` is what is safe here."""
        # Not below min.insync.replicas: eligible leader replicas rest on it (KIP-966).
        if own_offset <= current or not self.may_append(min_isr):
            return current
        lowest = own_offset
        for one in self._others:
            if one.end_offset < lowest and (
                one.in_maximal_isr or self._is_about_to_join(one, log_end_offset, now_ms)
            ):
                lowest = one.end_offset
                if lowest <= current:
                    return current
        return lowest

    def _is_about_to_join(self, one: Progress, log_end_offset: int, now_ms: int) -> bool:
        """Waited for, or the watermark would run away from a replica that is nearly in sync."""
        caught_up = one.is_caught_up(log_end_offset, now_ms, self._lag_max_ms)
        return caught_up and self._is_eligible(one)

    def low_watermark(self, own_start_offset: int) -> int:
        """Before it no live replica has a record any more."""
        lowest = own_start_offset
        for one in self._others:
            if one.log_start_offset < lowest:
                broker = self._brokers(one.replica_id)
                if broker is not None and not broker.fenced:
                    lowest = one.log_start_offset
        return lowest

    def may_append(self, min_isr: int) -> bool:
        """Before an append with acks=all: otherwise NOT_ENOUGH_REPLICAS."""
        return len(self.isr) >= min_isr or len(self.isr) >= len(self.replicas)

    def too_few(self, min_isr: int) -> str:
        return f"The size of the current ISR {len(self.isr)} is insufficient for {min_isr}"

    def is_enough(self, min_isr: int) -> bool:
        """Once the watermark has passed what was appended: otherwise it is
        NOT_ENOUGH_REPLICAS_AFTER_APPEND."""
        size = len(self.isr)
        if self.pending is not None:
            size = max(size, len(self.pending.isr))
        return size >= min_isr or size >= len(self.replicas)

    def knows_latest(self, high_watermark: int) -> bool:
        """Otherwise the latest offset is OFFSET_NOT_AVAILABLE for consumers: the leader before may
        have told them of a later watermark than this one has heard of yet."""
        return high_watermark >= self.start_offset

    # Who is in sync

    def expand(self, replica_id: int, high_watermark: int, own_epoch: int) -> IsrChange | None:
        """After each fetch of a follower: the change to send that takes it in."""
        if self.pending is not None or replica_id in self.isr:
            return None
        one = self.progress(replica_id)
        # Reaching the watermark is not enough: it may be an old one, and what the leader before
        # committed stands up to the start of this epoch (KAFKA-7128).
        if one is None or one.end_offset < max(high_watermark, self.start_offset):
            return None
        if not self._is_eligible(one):
            return None
        return self._propose((*self.isr, replica_id), own_epoch)

    def shrink(self, log_end_offset: int, own_epoch: int, now_ms: int) -> IsrChange | None:
        """Every half of replica.lag.time.max.ms: the change that leaves out who is behind."""
        if self.pending is not None or len(self.isr) <= 1:
            return None
        gone = [
            one.replica_id
            for one in self._others
            if one.in_maximal_isr and not one.is_caught_up(log_end_offset, now_ms, self._lag_max_ms)
        ]
        if not gone:
            return None
        return self._propose(tuple(one for one in self.isr if one not in gone), own_epoch)

    def _is_eligible(self, one: Progress) -> bool:
        broker = self._brokers(one.replica_id)
        if broker is None or broker.fenced or broker.in_controlled_shutdown:
            return False
        # What fetched must be what is registered: it may have come back without its log (KIP-903).
        return one.broker_epoch == UNCHECKED_EPOCH or one.broker_epoch == broker.epoch

    def _propose(self, isr: tuple[int, ...], own_epoch: int) -> IsrChange:
        members = tuple(InSyncReplica(one, self._epoch_of(one, own_epoch)) for one in isr)
        self.pending = IsrChange(self.leader_epoch, self.partition_epoch, members, RECOVERED)
        self._mark_maximal()
        return self.pending

    def _epoch_of(self, replica_id: int, own_epoch: int) -> int:
        if replica_id == self.node_id:
            return own_epoch
        one = self.progress(replica_id)
        if one is None or one.broker_epoch is None:
            return UNCHECKED_EPOCH
        return one.broker_epoch

    def on_answer(
        self, change: IsrChange, error_code: int, answer: IsrAnswer | None = None
    ) -> Outcome:
        """What the controller said to a change. ADOPTED and REVERTED may move the watermark.

        Of a change that was sent several times only the answer to the last copy may come here, and
        the copies must be decided in their order (one connection): a refusal takes the change
        back, and a copy that is decided after it would let in a replica nobody waits for."""
        if change is not self.pending:
            return Outcome.OUTDATED
        if error_code != ErrorCode.NONE or answer is None:
            outcome = outcome_of_error(error_code)
            if outcome is Outcome.REVERTED:
                self.pending = None
                self._mark_maximal()
            return outcome
        if (
            answer.leader_epoch != self.leader_epoch
            or answer.partition_epoch < self.partition_epoch
        ):
            return Outcome.WAIT
        self._commit(answer.partition_epoch, tuple(answer.isr), answer.leader_recovery_state)
        return Outcome.ADOPTED

    def _mark_maximal(self) -> None:
        """While a change is asked for, either set may be the one that elects the next leader."""
        asked = self.pending.replica_ids if self.pending is not None else ()
        for one in self._others:
            one.in_maximal_isr = one.replica_id in self.isr or one.replica_id in asked
