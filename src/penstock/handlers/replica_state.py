"""Which brokers and replicas of partitions clients of one listener can reach."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.topology import Address, endpoints
from penstock.metadata.broker import BrokerImage
from penstock.metadata.partition import PartitionImage
from penstock.model.directory_id import is_online
from penstock.model.error import ErrorCode

OFFLINE_KEPT_MAX = 1000


def replica_states(broker: Broker, listener: str) -> ReplicaStates:
    """Kept until a broker changes: clients ask all the time, and brokers hardly ever change."""
    brokers = tuple(broker.image.brokers.values())
    kept = broker.replica_states.get(listener)
    if kept is None or kept.brokers != brokers:
        everyone = list(endpoints(broker, listener, with_fenced=True))
        kept = broker.replica_states[listener] = ReplicaStates(brokers, everyone)
    return kept


class ReplicaStates:
    """A broker is not there for clients while it is fenced, or without the listener they use."""

    __slots__ = ("_by_id", "_offline", "_online", "addresses", "brokers", "has_fenced")

    def __init__(self, brokers: tuple[BrokerImage, ...], addresses: list[Address]) -> None:
        self.brokers = brokers
        self.addresses = addresses
        """Also those of fenced brokers."""
        self.has_fenced = any(address[-1] for address in addresses)
        self._by_id = {one.id: one for one in brokers}
        self._online = {
            node_id: self._by_id[node_id].log_dirs
            for node_id, _, _, _, fenced in addresses
            if not fenced
        }
        self._offline: dict[tuple[object, ...], list[int]] = {}
        """Most partitions are held by the same few sets of brokers."""

    def leader_error(self, partition: PartitionImage, tells_listeners: bool) -> ErrorCode:
        """Why no leader is named: clients look its address up in the same answer, so that it has
        to be one that can be reached."""
        if partition.leader in self._online:
            return ErrorCode.NONE
        leader = self._by_id.get(partition.leader)
        lacks_listener = leader is not None and not leader.fenced
        if tells_listeners and lacks_listener:
            return ErrorCode.LISTENER_NOT_FOUND
        return ErrorCode.LEADER_NOT_AVAILABLE

    def offline(self, partition: PartitionImage) -> list[int]:
        key = (partition.replicas, partition.directories)
        found = self._offline.get(key)
        if found is None:
            if len(self._offline) >= OFFLINE_KEPT_MAX:
                self._offline.clear()
            found = [one for one in partition.replicas if self._is_offline(one, partition)]
            self._offline[key] = found
        return found

    def _is_offline(self, broker_id: int, partition: PartitionImage) -> bool:
        online = self._online.get(broker_id)
        return online is None or not is_online(partition.directory(broker_id), online)

    def reachable(self, broker_ids: tuple[int, ...]) -> list[int]:
        return [one for one in broker_ids if one in self._online]
