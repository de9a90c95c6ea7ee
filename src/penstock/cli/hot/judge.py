"""Hot spots among the facts, each with the remedy that fits. Pure.

The remedies in their order: leaders back to where they belong, which costs nothing; a throttled
move, which costs a copy; the key itself, which costs a change of the producers. A later one is
named only where an earlier one does not help.
"""

from __future__ import annotations

from statistics import median
from typing import Final, NamedTuple

from penstock.cli.hot.facts import HotFacts, KeySample, PartitionRate
from penstock.cli.hot.words import key_name
from penstock.cli.operator.state import PartitionReplicas, TopicPartition
from penstock.cli.output import quoted

BROKER_FACTOR: Final = 5.0
"""Times the median of the other brokers."""
PARTITION_FACTOR: Final = 3.0
"""Times what an even share of its topic would be."""
KEY_SHARE: Final = 0.2
ALONE: Final = 0.6
"""A partition that makes so much of its broker's load takes it along wherever it goes."""
_QUIET_BYTES_S: Final = 1024.0
"""Below that nothing is hot."""
_ELECT_MAX: Final = 5


class Remedy(NamedTuple):
    do: str
    """The command, or the change."""
    why: str


class Spot(NamedTuple):
    kind: str
    """broker, partition or client."""
    what: str
    bytes_s: float
    times: float | None
    """Above what would be even; None where that is nothing."""
    remedies: tuple[Remedy, ...]


class BrokerHeat(NamedTuple):
    broker: int
    bytes_s: float
    times: float | None
    """The median of the others; None if they have nothing."""


def broker_heat(facts: HotFacts) -> list[BrokerHeat]:
    """Every broker that runs, the hottest first."""
    loads = {
        each.id: sum(one.bytes_s for one in facts.of_broker(each.id))
        for each in facts.state.brokers.values()
        if not each.fenced
    }
    found = []
    for broker, load in loads.items():
        middle = median([one for other, one in loads.items() if other != broker] or [load])
        found.append(BrokerHeat(broker, load, load / middle if middle else None))
    return sorted(found, key=lambda each: (-each.bytes_s, each.broker))


def find_spots(facts: HotFacts) -> list[Spot]:
    spots = [_broker_spot(facts, each) for each in broker_heat(facts) if _is_hot(each)]
    return [*spots, *_partition_spots(facts), *_client_spots(facts)]


def _is_hot(heat: BrokerHeat) -> bool:
    if heat.bytes_s < _QUIET_BYTES_S:
        return False
    return heat.times is None or heat.times >= BROKER_FACTOR


def _broker_spot(facts: HotFacts, heat: BrokerHeat) -> Spot:
    led = facts.of_broker(heat.broker)
    remedies = _election(facts, led)
    if not remedies and led[0].bytes_s < heat.bytes_s * ALONE:
        remedies = _move(facts, heat, led[0])
    if not remedies:
        remedies = _of_partition(facts, led[0])
    return Spot("broker", f"broker {heat.broker}", heat.bytes_s, heat.times, tuple(remedies))


def _election(facts: HotFacts, led: list[PartitionRate]) -> list[Remedy]:
    """Leaders that are here because another broker was away."""
    away = [each.place for each in led if each.bytes_s and _can_go_home(facts, each.place)]
    if not away:
        return []
    named = "--all" if len(away) > _ELECT_MAX else " ".join(map(str, away))
    why = f"{len(away)} of its leaders belong to other brokers, who have the replicas: no copy"
    return [Remedy(f"penstock leaders elect {named}", why)]


def _can_go_home(facts: HotFacts, place: TopicPartition) -> bool:
    partition = facts.state.partitions[place]
    home = partition.target[0]
    return home != partition.leader and home in partition.isr


def _move(facts: HotFacts, heat: BrokerHeat, busiest: PartitionRate) -> list[Remedy]:
    partition = facts.state.partitions[busiest.place]
    cool = [each.broker for each in reversed(broker_heat(facts)) if each.broker != heat.broker]
    if not cool or partition.moving:
        return []
    brokers = ",".join(map(str, _without_lead(partition, heat.broker, cool)))
    move = f"penstock partitions move {busiest.place} --to {brokers} --throttle 50M --wait"
    return [
        Remedy(
            f"{move} && penstock leaders elect {busiest.place}",
            "its busiest partition, led by a broker that has less to do",
        ),
        Remedy("penstock balance plan", "if there are many of them"),
    ]


def _without_lead(partition: PartitionReplicas, hot: int, cool: list[int]) -> tuple[int, ...]:
    """To a broker that has a replica, if it is cool: nothing is copied. Else in its place."""
    held = [each for each in cool[: max(len(cool) // 2, 1)] if each in partition.target]
    if held:
        return (held[0], *(each for each in partition.target if each != held[0]))
    free = next((each for each in cool if each not in partition.target), None)
    if free is None:
        others = [each for each in cool if each in partition.target]
        return (*others[:1], *(each for each in partition.target if each not in others[:1]))
    return (free, *(each for each in partition.target if each != hot))


def _partition_spots(facts: HotFacts) -> list[Spot]:
    spots = []
    for each in facts.rates:
        siblings = facts.of_topic(each.place.topic)
        even = sum(one.bytes_s for one in siblings) / len(siblings)
        if each.bytes_s >= _QUIET_BYTES_S and len(siblings) > 1:
            times = each.bytes_s / even
            if times >= min(PARTITION_FACTOR, len(siblings) * ALONE):
                remedies = tuple(_of_partition(facts, each))
                spots.append(Spot("partition", str(each.place), each.bytes_s, times, remedies))
    return spots


def _of_partition(facts: HotFacts, rate: PartitionRate) -> list[Remedy]:
    sample = facts.samples.get(rate.place)
    if sample is None or not sample.keys:
        return [_look_at(rate.place, "its keys were not sampled")]
    top = sample.keys[0]
    if top.key is None:
        return [
            Remedy(
                "in the producer: send without naming a partition",
                "most of it has no key: a producer that may choose spreads it by itself",
            )
        ]
    if top.share >= KEY_SHARE:
        return _of_key(rate, sample)
    count = len(facts.of_topic(rate.place.topic))
    again = f"penstock topics repartition {rate.place.topic} --partitions {count * 2}"
    return [
        Remedy(again, "no key stands out: its keys fall together, and more partitions part them"),
    ]


def _of_key(rate: PartitionRate, sample: KeySample) -> list[Remedy]:
    top = sample.keys[0]
    name, share = key_name(top.key), f"{top.share:.0%} of {rate.place}"
    return [
        Remedy(
            f"in the producer: key = f'{{key}}#{{n % 8}}' for {name} alone, n counting up",
            f"{name} makes {share}: no move helps, a key has one partition. Entropy spreads it; "
            "its order then holds within each of the eight only",
        ),
        Remedy(
            "another key: one level finer, such as the order instead of the customer",
            "if order is only needed there, nothing is lost",
        ),
        _look_at(rate.place, "whose records they are"),
    ]


def _look_at(place: TopicPartition, why: str) -> Remedy:
    return Remedy(f"penstock consume {place.topic} -p {place.partition} --from -20 --keys", why)


def _client_spots(facts: HotFacts) -> list[Spot]:
    """A producer that sends more than all the others together."""
    clients = facts.clients or ()
    sent = sum(each.sent for each in clients)
    return [
        Spot(
            "client",
            f"client {each.client_id} of {each.user}",
            each.sent,
            each.sent / (sent - each.sent) if sent > each.sent else None,
            (
                Remedy(
                    f"penstock quotas set --client {quoted(each.client_id)} "
                    f"producer_byte_rate={max(int(each.sent / 2), 1)}",
                    "it sends more than all others together; a quota contains it at once",
                ),
            ),
        )
        for each in clients
        if len(clients) > 1 and each.sent >= _QUIET_BYTES_S and each.sent > sent / 2
    ]
