"""Choosing brokers for new partitions.

A placement follows from the topic id, the partition number and the brokers alone: leaders go round
the brokers and their racks, each next replica to the rack that has fewest so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from penstock.metadata.broker import BrokerImage
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import PartitionImage
from penstock.model.directory_id import UNASSIGNED
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId


def place_partitions(
    image: ClusterImage, topic_id: TopicId, indexes: range, replication_factor: int
) -> list[list[int]]:
    brokers = _racks_in_turn(broker for broker in image.brokers.values() if _is_usable(broker))
    active = [broker for broker in brokers if broker.is_active]
    _check_placeable(replication_factor, len(brokers), len(active))
    seed = int.from_bytes(topic_id[:4], "big")
    if len(brokers) == 1:
        return [[brokers[0].id]] * len(indexes)
    turn = _Round(brokers, active)
    return [turn.place(seed + index, replication_factor) for index in indexes]


def _racks_in_turn(brokers: Iterable[BrokerImage]) -> list[BrokerImage]:
    """The first of each rack, the second of each, and so on. By their ids alone those of a rack
    often stand together: leaders of neighbouring partitions would share it, and of its brokers one
    would be passed over for replicas that the other is given."""
    racks: dict[str | None, list[BrokerImage]] = {}
    for broker in sorted(brokers, key=lambda broker: broker.id):
        racks.setdefault(broker.rack, []).append(broker)
    rounds = zip_longest(*racks.values())
    return [broker for each in rounds for broker in each if broker is not None]


def _is_usable(broker: BrokerImage) -> bool:
    """Fenced ones may come back; one on its way out, or full, is not given more."""
    is_cordoned = bool(broker.log_dirs) and set(broker.log_dirs).issubset(
        broker.cordoned_log_dirs or ()
    )
    is_leaving = broker.in_controlled_shutdown and not broker.fenced
    return not is_leaving and not is_cordoned


def _check_placeable(replication_factor: int, broker_count: int, active_count: int) -> None:
    problem = None
    if active_count == 0:
        problem = "All brokers are currently fenced, or have all their log directories cordoned."
    elif replication_factor > broker_count:
        problem = (
            f"The target replication factor of {replication_factor} cannot be reached because "
            f"only {broker_count} broker(s) are registered or some brokers have all their log "
            "directories cordoned."
        )
    if problem is not None:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): {problem}",
        )


class _Round:
    """The brokers as they stand when replicas are handed out, one partition after another."""

    def __init__(self, brokers: Sequence[BrokerImage], active: Sequence[BrokerImage]) -> None:
        self._brokers = brokers
        self._active = active
        self._racks = {broker.rack for broker in active}

    def place(self, turn: int, count: int) -> list[int]:
        leader = self._active[turn % len(self._active)]
        # A second hand that moves once per round keeps two leaders from always sharing followers.
        start = turn + 1 + turn // len(self._active)
        chosen = [leader]
        while len(chosen) < count:
            chosen.append(self._next(start, chosen))
        return [broker.id for broker in chosen]

    def _next(self, start: int, chosen: list[BrokerImage]) -> BrokerImage:
        """The first in turn whose rack has fewest so far. Seldom far from the start: a cluster of
        hundreds is not gone through for each replica."""
        taken = {broker.id for broker in chosen}
        racks = [broker.rack for broker in chosen]
        fewest = 0
        if len(self._racks) <= len(chosen):
            fewest = min(racks.count(rack) for rack in self._racks)
        count = len(self._brokers)
        waiting = []
        for step in range(start, start + count):
            broker = self._brokers[step % count]
            if broker.id in taken:
                continue
            if broker.is_active and racks.count(broker.rack) == fewest:
                return broker
            waiting.append(broker)
        return min(waiting, key=lambda one: (not one.is_active, racks.count(one.rack)))


def new_partition(image: ClusterImage, replicas: Sequence[int]) -> PartitionImage | None:
    """None if no replica could lead it now."""
    isr = [broker_id for broker_id in replicas if image.brokers[broker_id].is_active]
    if not isr:
        return None
    return PartitionImage(
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
        replicas=replicas,
        isr=isr,
        directories=[default_directory(image.brokers[broker_id]) for broker_id in replicas],
    )


def default_directory(broker: BrokerImage) -> bytes:
    """With several directories the broker itself chooses, and tells the controller later."""
    return broker.log_dirs[0] if len(broker.log_dirs) == 1 else UNASSIGNED
