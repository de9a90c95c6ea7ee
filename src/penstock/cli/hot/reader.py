"""Two looks at a cluster some seconds apart, and the load between them. Prints nothing.

What a partition takes is how much its log has grown; where retention deleted meanwhile, its
records times the bytes of one. Only keys of the busiest partitions are sampled.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from penstock.cli.failure import Failure
from penstock.cli.group.reader import ClusterReader, Offsets
from penstock.cli.hot.facts import GroupRate, HotFacts, KeySample, PartitionRate
from penstock.cli.hot.key_tally import sample_keys
from penstock.cli.hot.producer_rate import read_producers
from penstock.cli.interrupt import check_interrupt
from penstock.cli.leader_call import Leaders
from penstock.cli.operator.link import Link
from penstock.cli.operator.reader import Disks, read_disks, read_state
from penstock.cli.operator.state import ClusterState, TopicPartition
from penstock.cli.quota_top import Figures, Usage, look, usages

SAMPLED: Final = 5


class Look(NamedTuple):
    at_s: float
    starts: Offsets
    ends: Offsets
    disks: Disks
    committed: Mapping[str, Offsets]
    figures: Figures | None


def read_facts(
    link: Link, seconds: float, topics: Sequence[str], metrics: Sequence[str]
) -> HotFacts:
    state = read_state(link)
    places = [each for each in state.partitions if not topics or each.topic in topics]
    missing = set(topics) - {each.topic for each in places}
    if missing:
        raise Failure(f"there is no topic {min(missing)}; `penstock topics list` shows them")
    before = _look(link, state, places, metrics)
    check_interrupt()
    time.sleep(seconds)
    after = _look(link, state, places, metrics)
    rates = _rates(state, places, before, after)
    busiest = [each.place for each in rates[:SAMPLED] if each.records_s > 0]
    with ClusterReader(link) as reader:
        leaders = reader.leaders
    return HotFacts(
        state,
        rates,
        _samples(link, leaders, busiest, after),
        read_producers(link, leaders, busiest),
        _group_rates(before, after),
        _clients(before, after),
    )


def _look(
    link: Link, state: ClusterState, places: Sequence[TopicPartition], metrics: Sequence[str]
) -> Look:
    with ClusterReader(link) as reader:
        at_s = time.monotonic()
        return Look(
            at_s,
            reader.starts(places),
            reader.ends(places),
            read_disks(link, state.brokers.values()),
            _committed(reader),
            look(metrics) if metrics else None,
        )


def _committed(reader: ClusterReader) -> Mapping[str, Offsets]:
    try:
        return reader.committed(reader.listed())
    except Failure:
        # No right to see groups, or a coordinator that is loading: the rest is still told.
        return {}


def _rates(
    state: ClusterState, places: Sequence[TopicPartition], before: Look, after: Look
) -> tuple[PartitionRate, ...]:
    passed_s = max(after.at_s - before.at_s, 1e-3)
    found = []
    for place in places:
        records = max(
            after.ends.get(place, 0) - before.ends.get(place, after.ends.get(place, 0)), 0
        )
        grown = _grown(state, place, records, before, after)
        leader = state.partitions[place].leader
        found.append(PartitionRate(place, leader, records / passed_s, grown / passed_s))
    return tuple(sorted(found, key=lambda each: (-each.bytes_s, -each.records_s, each.place)))


def _grown(
    state: ClusterState, place: TopicPartition, records: int, before: Look, after: Look
) -> float:
    leader = state.partitions[place].leader
    if not records or leader is None or leader not in after.disks:
        return 0.0
    size = after.disks[leader].sizes.get(place, 0)
    was = before.disks[leader].sizes.get(place, 0) if leader in before.disks else size
    if size > was:
        return float(size - was)
    kept = after.ends.get(place, 0) - after.starts.get(place, 0)
    return records * size / kept if kept > 0 else 0.0


def _samples(
    link: Link, leaders: Leaders, busiest: Sequence[TopicPartition], after: Look
) -> dict[TopicPartition, KeySample]:
    found = {
        place: sample_keys(link, leaders, place, after.ends.get(place, 0)) for place in busiest
    }
    return {place: each for place, each in found.items() if each is not None}


def _group_rates(before: Look, after: Look) -> tuple[GroupRate, ...]:
    passed_s = max(after.at_s - before.at_s, 1e-3)
    moved: dict[tuple[str, str], int] = {}
    for group, offsets in after.committed.items():
        for (topic, partition), offset in offsets.items():
            was = before.committed.get(group, {}).get((topic, partition), offset)
            key = (group, topic)
            moved[key] = moved.get(key, 0) + max(offset - was, 0)
    found = [GroupRate(*key, count / passed_s) for key, count in moved.items() if count]
    return tuple(sorted(found, key=lambda each: (-each.records_s, each.group, each.topic)))


def _clients(before: Look, after: Look) -> tuple[Usage, ...] | None:
    if before.figures is None or after.figures is None:
        return None
    return tuple(usages(before.figures, after.figures, after.at_s - before.at_s))
