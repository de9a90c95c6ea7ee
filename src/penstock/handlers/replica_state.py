"""Which replicas of partitions clients of one listener can reach, for the length of one answer."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.model.directory_id import is_online
from penstock.model.error import ErrorCode


class ReplicaStates:
    """A broker is not there for clients while it is fenced, or without the listener they use."""

    __slots__ = ("_brokers", "_offline", "_online")

    def __init__(self, broker: Broker, listener: str) -> None:
        self._brokers = broker.image.brokers
        self._online = {
            one.id: one.log_dirs
            for one in self._brokers.values()
            if not one.fenced and one.endpoint(listener) is not None
        }
        self._offline: dict[tuple[object, ...], list[int]] = {}
        """Most partitions of an answer are held by the same few sets of brokers."""

    def leader(self, partition: PartitionImage) -> int:
        """Only one that can be reached: clients look its address up in the same answer."""
        return partition.leader if partition.leader in self._online else NO_LEADER

    def leader_error(self, partition: PartitionImage, tells_listeners: bool) -> ErrorCode:
        if partition.leader in self._online:
            return ErrorCode.NONE
        leader = self._brokers.get(partition.leader)
        lacks_listener = leader is not None and not leader.fenced
        if tells_listeners and lacks_listener:
            return ErrorCode.LISTENER_NOT_FOUND
        return ErrorCode.LEADER_NOT_AVAILABLE

    def offline(self, partition: PartitionImage) -> list[int]:
        key = (partition.replicas, partition.directories)
        found = self._offline.get(key)
        if found is None:
            found = [one for one in partition.replicas if self._is_offline(one, partition)]
            self._offline[key] = found
        return found

    def _is_offline(self, broker_id: int, partition: PartitionImage) -> bool:
        online = self._online.get(broker_id)
        return online is None or not is_online(partition.directory(broker_id), online)

    def reachable(self, broker_ids: tuple[int, ...]) -> list[int]:
        return [one for one in broker_ids if one in self._online]
