"""Which producers write to some partitions, by the numbers that idempotent ones count with.

Kafka's protocol tells a producer's id and the number of its last record in a partition
(DescribeProducers, Kafka 2.8), not its name: that is in its own log, and in a broker's metrics.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from penstock.cli.failure import Failure
from penstock.cli.hot.facts import ProducerRate
from penstock.cli.leader_call import Address, Leaders
from penstock.cli.operator.link import Link
from penstock.cli.operator.state import TopicPartition
from penstock.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)

SECONDS: Final = 1.0
_SEQUENCES: Final = 1 << 31
"""Numbers begin anew there."""

Numbers = dict[tuple[TopicPartition, int], tuple[int, int]]
"""By partition and producer: its epoch, and the number of its last record."""


def read_producers(
    link: Link, leaders: Leaders, places: Sequence[TopicPartition]
) -> tuple[ProducerRate, ...]:
    """Those who wrote within a second, the busiest first; nobody where brokers do not tell."""
    if not places:
        return ()
    try:
        before, began_s = _numbers(link, leaders, places), time.monotonic()
        time.sleep(SECONDS)
        after = _numbers(link, leaders, places)
        passed_s = time.monotonic() - began_s
    except Failure:
        return ()
    return rates(before, after, passed_s)


def rates(before: Numbers, after: Numbers, passed_s: float) -> tuple[ProducerRate, ...]:
    found = [
        ProducerRate(place, producer, count / passed_s)
        for (place, producer), now in after.items()
        if (count := _written(before.get((place, producer)), now)) > 0
    ]
    return tuple(sorted(found, key=lambda each: (-each.records_s, each.place, each.producer_id)))


def _written(before: tuple[int, int] | None, now: tuple[int, int]) -> int:
    """A new epoch counts from 0."""
    epoch, last = now
    if before is None or before[0] != epoch:
        return last + 1
    return (last - before[1]) % _SEQUENCES


def _numbers(link: Link, leaders: Leaders, places: Sequence[TopicPartition]) -> Numbers:
    by_leader: dict[Address, list[TopicPartition]] = {}
    for place in places:
        if place in leaders.by_place:
            by_leader.setdefault(leaders.by_place[place], []).append(place)
    found: Numbers = {}
    for address, theirs in by_leader.items():
        request = DescribeProducersRequest(
            topics=[
                TopicRequest(name=each.topic, partition_indexes=[each.partition]) for each in theirs
            ]
        )
        answer = link.call_at(*address, request, DescribeProducersResponse)
        for topic in answer.topics:
            for part in topic.partitions:
                place = TopicPartition(topic.name, part.partition_index)
                for each in part.active_producers:
                    key = (place, each.producer_id)
                    found[key] = (each.producer_epoch, each.last_sequence)
    return found
