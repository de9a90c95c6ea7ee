"""A controller that never fails but may be slow: registration, fencing, elections and in-sync sets
by Kafka's rules with eligible leader replicas (KIP-966), for one partition."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.model.error import ErrorCode
from penstock.replication.isr_change import RECOVERED, RECOVERING, IsrAnswer, IsrChange

NO_LEADER = -1


@dataclass(frozen=True)
class BrokerState:
    epoch: int
    fenced: bool = True
    in_controlled_shutdown: bool = False


@dataclass(frozen=True)
class PartitionState:
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    leader_recovery_state: int = RECOVERED
    elr: tuple[int, ...] = ()
    last_known: int = NO_LEADER


@dataclass(frozen=True)
class Image:
    """One version of the metadata."""

    version: int
    partition: PartitionState
    brokers: dict[int, BrokerState]
    unclean_epoch: int = -1
    """The leader epoch of the last election that may have lost something, and was allowed to."""


class ModelController:
    def __init__(self, replicas: tuple[int, ...], min_isr: int, *, unclean: bool) -> None:
        self.min_isr = min(min_isr, len(replicas))
        self.unclean = unclean
        brokers = {one: BrokerState(one, fenced=False) for one in replicas}
        partition = PartitionState(replicas, replicas, replicas[0])
        self.image = Image(max(replicas), partition, brokers)

    @property
    def partition(self) -> PartitionState:
        return self.image.partition

    # Brokers

    def register(self, broker_id: int, previous_epoch: int) -> int:
        """The new broker epoch. Unclean unless the broker knows its epoch before."""
        known = self.image.brokers.get(broker_id)
        clean = known is not None and known.epoch == previous_epoch
        epoch = self.image.version + 1
        self._set_broker(broker_id, BrokerState(epoch))
        if known is not None:
            self._leave(broker_id, clean=clean)
        return epoch

    def unfence(self, broker_id: int, epoch: int) -> None:
        known = self.image.brokers.get(broker_id)
        if known is not None and known.epoch == epoch and known.fenced:
            self._set_broker(broker_id, replace(known, fenced=False))
            self._elect(self.partition)

    def fence(self, broker_id: int) -> None:
        known = self.image.brokers.get(broker_id)
        if known is not None and not known.fenced:
            self._set_broker(broker_id, replace(known, fenced=True, in_controlled_shutdown=False))
            self._leave(broker_id, clean=True)

    def begin_shutdown(self, broker_id: int, epoch: int) -> None:
        known = self.image.brokers.get(broker_id)
        if known is not None and known.epoch == epoch and not known.fenced:
            self._set_broker(broker_id, replace(known, in_controlled_shutdown=True))
            self._leave(broker_id, clean=True)

    def _leave(self, broker_id: int, *, clean: bool) -> None:
        state = self.partition
        isr = tuple(one for one in state.isr if one != broker_id)
        gone = () if clean else (broker_id,)
        if isr != state.isr or (gone and broker_id in state.elr) or state.leader == broker_id:
            self._elect(self._with_isr(state, isr, gone))

    def _with_isr(
        self, state: PartitionState, isr: tuple[int, ...], gone: tuple[int, ...] = ()
    ) -> PartitionState:
        if len(isr) >= self.min_isr:
            return replace(state, isr=isr, elr=(), last_known=NO_LEADER)
        before = dict.fromkeys((*state.elr, *state.isr))
        elr = tuple(one for one in before if one not in isr and one not in gone)
        return replace(state, isr=isr, elr=elr)

    # Elections

    def is_active(self, broker_id: int) -> bool:
        known = self.image.brokers.get(broker_id)
        return known is not None and not known.fenced and not known.in_controlled_shutdown

    def _is_valid(self, state: PartitionState, broker_id: int) -> bool:
        among = state.isr or state.elr
        return broker_id in among and self.is_active(broker_id)

    def _elect(self, state: PartitionState, wanted: int = NO_LEADER) -> None:
        candidates = [wanted, state.leader, *state.replicas]
        leader = next((one for one in candidates if self._is_valid(state, one)), NO_LEADER)
        if leader != NO_LEADER:
            self._lead(state, leader)
            return
        lone = not state.isr and not state.elr and self.is_active(state.last_known)
        if lone:
            # Where records may be lost by an election, the last leader may have lost some too.
            self._lead(state, state.last_known, recovery=RECOVERING, lossy=self.unclean)
            return
        if self.unclean:
            active = [one for one in state.replicas if self.is_active(one)]
            if active:
                self._lead(state, active[0], recovery=RECOVERING, lossy=True)
                return
        if state.leader != NO_LEADER:
            last_known = state.leader if not state.isr else NO_LEADER
            epoch = state.leader_epoch + 1
            state = replace(state, leader=NO_LEADER, leader_epoch=epoch, last_known=last_known)
        self._publish(state)

    def _lead(
        self, state: PartitionState, leader: int, *, recovery: int = RECOVERED, lossy: bool = False
    ) -> None:
        if not state.isr or recovery == RECOVERING:
            state = self._with_isr(state, (leader,))
        if lossy:
            state = replace(state, elr=())
        if leader != state.leader or recovery == RECOVERING:
            state = replace(
                state,
                leader=leader,
                leader_epoch=state.leader_epoch + 1,
                leader_recovery_state=recovery,
                last_known=NO_LEADER,
            )
        self._publish(state, lossy=lossy)

    def elect_preferred(self) -> None:
        first = self.partition.replicas[0]
        if self.partition.leader != first and first in self.partition.isr:
            self._elect(self.partition, first)

    def bump_epoch(self) -> None:
        """The same leader again, in a new epoch: as when a replica leaves the assignment."""
        if self.partition.leader != NO_LEADER:
            self._publish(replace(self.partition, leader_epoch=self.partition.leader_epoch + 1))

    # In-sync sets

    def alter_partition(
        self, sender: int, broker_epoch: int, change: IsrChange
    ) -> tuple[int, IsrAnswer | None]:
        known = self.image.brokers.get(sender)
        if known is None or known.epoch != broker_epoch:
            return ErrorCode.STALE_BROKER_EPOCH, None
        state = self.partition
        error = self._refusal(sender, change)
        if error != ErrorCode.NONE:
            return error, None
        recovery = change.leader_recovery_state
        isr = change.replica_ids
        if isr != state.isr or recovery != state.leader_recovery_state:
            self._publish(replace(self._with_isr(state, isr), leader_recovery_state=recovery))
        state = self.partition
        answer = IsrAnswer(state.leader_epoch, state.partition_epoch, state.isr, RECOVERED)
        return ErrorCode.NONE, answer

    def _refusal(self, sender: int, change: IsrChange) -> int:
        state, isr = self.partition, change.replica_ids
        epochs = (change.leader_epoch, change.partition_epoch)
        if epochs[0] > state.leader_epoch or epochs[1] > state.partition_epoch:
            return ErrorCode.NOT_CONTROLLER
        if epochs[0] < state.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if state.leader != sender:
            return ErrorCode.INVALID_REQUEST
        if epochs[1] < state.partition_epoch:
            return ErrorCode.INVALID_UPDATE_VERSION
        recovering = change.leader_recovery_state == RECOVERING
        if sender not in isr or len(set(isr)) < len(isr) or not set(isr) <= set(state.replicas):
            return ErrorCode.INVALID_REQUEST
        if recovering and (len(isr) > 1 or state.leader_recovery_state == RECOVERED):
            return ErrorCode.INVALID_REQUEST
        for member in change.isr:
            broker = self.image.brokers.get(member.replica_id)
            if broker is None or broker.fenced or broker.in_controlled_shutdown:
                return ErrorCode.INELIGIBLE_REPLICA
            if member.broker_epoch not in (-1, broker.epoch):
                return ErrorCode.INELIGIBLE_REPLICA
        return ErrorCode.NONE

    # Versions

    def _set_broker(self, broker_id: int, state: BrokerState) -> None:
        brokers = {**self.image.brokers, broker_id: state}
        self.image = replace(self.image, version=self.image.version + 1, brokers=brokers)

    def _publish(self, state: PartitionState, *, lossy: bool = False) -> None:
        before = self.partition
        if state == before:
            return
        state = replace(state, partition_epoch=before.partition_epoch + 1)
        self.image = Image(
            self.image.version + 1,
            state,
            self.image.brokers,
            state.leader_epoch if lossy else self.image.unclean_epoch,
        )
