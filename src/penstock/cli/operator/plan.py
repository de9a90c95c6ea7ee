"""Which replica goes where. Pure: it looks at a `ClusterState` and answers with moves, or refuses.

Every plan keeps what it can: a replica moves only if it has to. A new place is chosen by rack
first (where the partition has the fewest replicas), then by how many replicas of the topic and of
all topics a broker has, then by bytes. Carrying a plan out is `reassignment`'s work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from penstock.cli.failure import Failure
from penstock.cli.operator.state import (
    ClusterState,
    PartitionReplicas,
    TopicPartition,
    name_some,
)
from penstock.cli.output import plural


class Move(NamedTuple):
    place: TopicPartition
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def adding(self) -> list[int]:
        return [each for each in self.after if each not in self.before]

    @property
    def removing(self) -> list[int]:
        return [each for each in self.before if each not in self.after]


class _Load:
    """How much each broker has, once all moves under way and planned so far have ended."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self.replicas: Counter[int] = Counter()
        self.of_topic: Counter[tuple[str, int]] = Counter()
        self.preferred: Counter[int] = Counter()
        self._bytes: Counter[int] = Counter()
        for each in state.partitions.values():
            self.preferred[each.target[0]] += 1
            for broker in each.target:
                self.count(each.place, broker, 1)

    def count(self, place: TopicPartition, broker: int, times: int) -> None:
        self.replicas[broker] += times
        self.of_topic[place.topic, broker] += times
        self._bytes[broker] += times * self._state.sizes.get(place, 0)

    def place(self, move: Move) -> None:
        self.preferred[move.before[0]] -= 1
        self.preferred[move.after[0]] += 1
        for broker in move.removing:
            self.count(move.place, broker, -1)
        for broker in move.adding:
            self.count(move.place, broker, 1)

    def choose(self, place: TopicPartition, kept: Sequence[int], among: Iterable[int]) -> int:
        racks = Counter(self._state.rack(each) for each in kept)

        def burden(broker: int) -> tuple[int, ...]:
            return (
                racks[self._state.rack(broker)],
                self.of_topic[place.topic, broker],
                self.replicas[broker],
                self._bytes[broker],
                broker,
            )

        return min(among, key=burden)

    def lead(self, replicas: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
        """With the broker in front that is preferred least often; the others in their order."""
        first = min(replicas, key=lambda each: (self.preferred[each], each not in before, each))
        return (first, *(each for each in replicas if each != first))


def plan_drain(state: ClusterState, broker: int) -> list[Move]:
    """Each replica of a broker to another one. What is on its way off already is left alone."""
    concerned = [each for each in state.partitions.values() if broker in each.target]
    others = [each for each in state.open_brokers if each != broker]
    _check_drain(broker, concerned, others)
    load = _Load(state)
    moves = []
    # Those with the least choice first.
    for each in sorted(concerned, key=lambda one: (-len(one.target), one.place)):
        kept = [one for one in each.target if one != broker]
        chosen = load.choose(each.place, kept, [one for one in others if one not in kept])
        after = tuple(chosen if one == broker else one for one in each.target)
        if each.target[0] == broker:
            after = load.lead(after, kept)
        move = Move(each.place, each.target, after)
        load.place(move)
        moves.append(move)
    return sorted(moves)


def _check_drain(
    broker: int, concerned: Iterable[PartitionReplicas], others: Collection[int]
) -> None:
    full = [each for each in concerned if not set(others) - set(each.target)]
    if full:
        count = max(len(each.target) for each in full)
        places = name_some(sorted(each.place for each in full))
        raise Failure(
            f"broker {broker} cannot be drained: no other live broker is left for {places} with "
            f"{plural(count, 'replica')}; start another broker first, or give them fewer replicas "
            "with `penstock partitions move TOPIC -r N`"
        )
    dead = [each for each in concerned if each.leader is None]
    if dead:
        raise Failure(
            f"broker {broker} cannot be drained: {name_some(sorted(one.place for one in dead))} "
            "has no leader to copy from; bring its brokers back, or see `penstock leaders elect`"
        )


def plan_exact(state: ClusterState, place: TopicPartition, replicas: Sequence[int]) -> list[Move]:
    """One partition to just these brokers, the first of them its preferred leader."""
    _check_brokers(state, replicas)
    before = state.partitions[place].target
    move = Move(place, before, tuple(replicas))
    return [] if move.before == move.after else [move]


def plan_spread(
    state: ClusterState, topic: str, brokers: Sequence[int], replicas: int | None = None
) -> list[Move]:
    """A topic over these brokers, evenly, with as many replicas as now or as asked for."""
    _check_brokers(state, brokers)
    partitions = state.of_topic(topic)
    most = max((replicas or len(each.target) for each in partitions), default=0)
    if most > len(brokers):
        raise Failure(
            f"{topic} wants {most} replicas, and {len(brokers)} brokers have no room for them; "
            "name more brokers with --to, or fewer replicas with -r"
        )
    total = sum(replicas or len(each.target) for each in partitions)
    spread = _Spread(state, brokers, -(-total // len(brokers)), -(-len(partitions) // len(brokers)))
    moves = []
    for each in partitions:
        move = Move(each.place, each.target, spread.place(each, replicas or len(each.target)))
        if move.before != move.after:
            moves.append(move)
    return moves


class _Spread:
    def __init__(
        self, state: ClusterState, brokers: Sequence[int], replicas_max: int, leaders_max: int
    ) -> None:
        self._brokers = brokers
        self._replicas_max = replicas_max
        self._leaders_max = leaders_max
        self._load = _Load(state)
        self._kept: Counter[int] = Counter()
        self._leads: Counter[int] = Counter()

    def place(self, partition: PartitionReplicas, count: int) -> tuple[int, ...]:
        before, place = partition.target, partition.place
        after = self._keep(partition, count)
        for each in before:
            if each not in after:
                self._load.count(place, each, -1)
        while len(after) < count:
            free = [each for each in self._brokers if each not in after]
            room = [each for each in free if self._kept[each] < self._replicas_max]
            after.append(self._load.choose(place, after, room or free))
            self._load.count(place, after[-1], 1)
            self._kept[after[-1]] += 1
        return self._with_leader(after, before)

    def _keep(self, partition: PartitionReplicas, count: int) -> list[int]:
        """What may stay: on the brokers that were named, in sync first, none with too many."""
        stays = sorted(
            (each for each in partition.target if each in self._brokers),
            key=lambda each: each not in partition.isr,
        )
        kept = [each for each in stays if self._kept[each] < self._replicas_max][:count]
        self._kept.update(kept)
        return [each for each in partition.target if each in kept]

    def _with_leader(self, after: list[int], before: tuple[int, ...]) -> tuple[int, ...]:
        if after[0] == before[0] and self._leads[after[0]] < self._leaders_max:
            led = tuple(after)
        else:
            first = min(after, key=lambda each: (self._leads[each], each not in before, each))
            led = (first, *(each for each in after if each != first))
        self._leads[led[0]] += 1
        return led


def _check_brokers(state: ClusterState, brokers: Sequence[int]) -> None:
    unknown = [each for each in brokers if each not in state.brokers]
    if unknown:
        there = ", ".join(map(str, sorted(state.brokers)))
        raise Failure(f"there is no broker {unknown[0]}; there are {there}")
    down = [each for each in brokers if state.brokers[each].fenced]
    if down:
        raise Failure(f"broker {down[0]} is down; start it first, or name others with --to")
    closed = [each for each in brokers if state.brokers[each].cordoned]
    if closed:
        raise Failure(
            f"broker {closed[0]} was drained and takes no replicas; "
            f"`penstock brokers drain {closed[0]} --cancel` changes that"
        )
    twice = [each for each, count in Counter(brokers).items() if count > 1]
    if twice:
        raise Failure(f"--to names broker {twice[0]} twice")
