"""A cluster at one moment, as an operator looks at it: brokers, partitions, replicas. Pure values.

`reader` fills it from the protocol; `plan`, `health` and `roll` decide on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}:{self.partition}"


@dataclass(frozen=True, slots=True)
class BrokerNode:
    id: int
    host: str = ""
    port: int = 0
    rack: str | None = None
    fenced: bool = False
    cordoned: bool = False
    """It takes no new replicas: it was drained (KIP-1066)."""


@dataclass(frozen=True, slots=True)
class PartitionReplicas:
    place: TopicPartition
    leader: int | None
    replicas: tuple[int, ...]
    """All of them while a move is under way: those that come and those that go."""
    isr: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas once the move that is under way has ended; without one, the replicas."""
        return tuple(each for each in self.replicas if each not in self.removing)

    @property
    def moving(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def lagging(self) -> tuple[int, ...]:
        """Replicas that are not in sync. Those that a move adds are not missed yet."""
        return tuple(
            each for each in self.replicas if each not in self.isr and each not in self.adding
        )


@dataclass(frozen=True, slots=True)
class ClusterState:
    brokers: Mapping[int, BrokerNode]
    partitions: Mapping[TopicPartition, PartitionReplicas]
    cluster_id: str = ""
    sizes: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Bytes of a replica, where they were asked for."""

    @property
    def open_brokers(self) -> list[int]:
        """Those that can take a replica."""
        return sorted(
            each.id for each in self.brokers.values() if not each.fenced and not each.cordoned
        )

    def rack(self, broker: int) -> str | None:
        node = self.brokers.get(broker)
        return node.rack if node is not None else None

    def of_topic(self, topic: str) -> list[PartitionReplicas]:
        found = (each for each in self.partitions.values() if each.place.topic == topic)
        return sorted(found, key=lambda each: each.place)


class QuorumReplica(NamedTuple):
    id: int
    end_offset: int
    last_fetch_ms: int | None
    caught_up_ms: int | None


@dataclass(frozen=True, slots=True)
class QuorumState:
    leader: int
    epoch: int
    high_watermark: int
    voters: list[QuorumReplica]
    observers: list[QuorumReplica]
    addresses: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    """Of the voters, where the cluster tells them."""

    @property
    def end_offset(self) -> int:
        ends = [each.end_offset for each in self.voters if each.id == self.leader]
        return ends[0] if ends else self.high_watermark

    def lag(self, replica: QuorumReplica) -> int:
        return max(self.end_offset - replica.end_offset, 0)

    def behind_s(self, replica: QuorumReplica, now_ms: int) -> float | None:
        """Since when it has not been level with the leader, by the leader's clock if it tells."""
        if replica.id == self.leader:
            return 0.0
        if replica.caught_up_ms is None:
            return None
        told = [each.caught_up_ms for each in self.voters if each.id == self.leader]
        now = told[0] if told and told[0] is not None else now_ms
        return max(now - replica.caught_up_ms, 0) / 1000


def name_some(places: Iterable[object], count: int = 3) -> str:
    """The first few, and how many more there are: a line that stays a line."""
    names = [str(each) for each in places]
    rest = len(names) - count
    return ", ".join(names[:count]) + (f" and {rest} more" if rest > 0 else "")
