"""Where every replica is while a balance is planned, and what each broker has of them. Pure.

Partitions that are being moved count where they will be, and stay there; so do those that lack a
leader or a replica in sync: they have other worries. Only open brokers take or give replicas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from penstock.cli.operator.plan import Move
from penstock.cli.operator.state import ClusterState, PartitionReplicas, TopicPartition


class Layout:
    def __init__(self, state: ClusterState, room: Mapping[int, int] | None = None) -> None:
        """`room`: bytes that a broker's disk may still take, where it is known."""
        self.state = state
        self._room = dict(room or {})
        self.brokers = state.open_brokers
        self.replicas = {each.place: each.target for each in state.partitions.values()}
        self.bytes: Counter[int] = Counter()
        self.counts: Counter[int] = Counter()
        self.of_topic: Counter[tuple[str, int]] = Counter()
        self._racks = len({state.rack(each) for each in self.brokers})
        self.movable = sorted(
            each.place for each in state.partitions.values() if self._is_free(each)
        )
        self._movable = frozenset(self.movable)
        self._on: dict[int, set[TopicPartition]] = {each: set() for each in self.brokers}
        for place, brokers in self.replicas.items():
            for broker in brokers:
                self._count(place, broker, 1)

    def _is_free(self, partition: PartitionReplicas) -> bool:
        return (
            not partition.moving
            and partition.leader is not None
            and not partition.lagging
            and set(partition.replicas) <= set(self.brokers)
        )

    def size(self, place: TopicPartition) -> int:
        return self.state.sizes.get(place, 0)

    def movable_on(self, broker: int) -> set[TopicPartition]:
        return self._on[broker]

    def lost_racks(self, place: TopicPartition) -> int:
        """How many racks more its replicas could be on."""
        brokers = self.replicas[place]
        return min(len(brokers), self._racks) - self._distinct(brokers)

    def may_take(self, place: TopicPartition, giver: int, taker: int) -> bool:
        """Not the same broker twice, not a disk that would be full, on no fewer racks than now."""
        before = self.replicas[place]
        if taker in before or not self.has_room(place, taker):
            return False
        after = [taker if each == giver else each for each in before]
        return self._distinct(after) >= self._distinct(before)

    def has_room(self, place: TopicPartition, broker: int) -> bool:
        return broker not in self._room or self._room[broker] >= self.size(place)

    def _distinct(self, brokers: tuple[int, ...] | list[int]) -> int:
        return len({self.state.rack(each) for each in brokers})

    def move(self, place: TopicPartition, giver: int, taker: int) -> None:
        """The new replica is preferred as leader where the old one was."""
        after = tuple(taker if each == giver else each for each in self.replicas[place])
        self._count(place, giver, -1)
        self.replicas[place] = after
        self._count(place, taker, 1)
        if taker in self._room:
            # The giver's is free only when all is copied.
            self._room[taker] -= self.size(place)

    def prefer(self, place: TopicPartition, broker: int) -> None:
        """As leader; the others stay in their order."""
        others = (each for each in self.replicas[place] if each != broker)
        self.replicas[place] = (broker, *others)

    def _count(self, place: TopicPartition, broker: int, times: int) -> None:
        self.bytes[broker] += times * self.size(place)
        self.counts[broker] += times
        self.of_topic[place.topic, broker] += times
        if place in self._movable and broker in self._on:
            (self._on[broker].add if times > 0 else self._on[broker].discard)(place)

    def moves(self) -> Iterator[Move]:
        for place, after in sorted(self.replicas.items()):
            before = self.state.partitions[place].target
            if before != after:
                yield Move(place, before, after)
