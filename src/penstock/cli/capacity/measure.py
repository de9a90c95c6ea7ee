"""The load of the running cluster, measured over some seconds. Prints nothing.

Bytes a second are records a second, by the ends of the logs, times the bytes that a record takes on
disk. Groups that have committed to a topic are what multiplies its reads.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

from penstock.cli.capacity.plan import Demand, DiskOutlook
from penstock.cli.capacity.topic_advice import TopicLoad
from penstock.cli.catalog.declaration import CONSUMER_GROUP, GROUP_MEMBER, PARTITION_LAG
from penstock.cli.cluster import Cluster, is_internal
from penstock.cli.failure import Failure
from penstock.cli.group.reader import ClusterReader
from penstock.cli.leader_call import (
    EARLIEST,
    LATEST,
    Place,
    leaders_of,
    list_offsets,
    read_metadata,
)
from penstock.cli.log_dir import describe_log_dirs
from penstock.cli.operator.link import Link
from penstock.cli.query.live import read_live


class Measured(NamedTuple):
    demand: Demand
    disks: list[DiskOutlook]
    topics: list[TopicLoad]


def measure(cluster: Cluster, given: Demand, seconds: float) -> Measured:
    """What was `given` with the figures of the cluster in their places."""
    link = Link(cluster)
    metadata = read_metadata(link)
    leaders = leaders_of(metadata)
    places = [each for each in leaders.by_place if not is_internal(each[0])]
    if not places:
        raise Failure("there is no topic to measure; describe the load instead, see --help")
    starts = list_offsets(link, leaders, places, EARLIEST)
    before, began_s = list_offsets(link, leaders, places, LATEST), time.monotonic()
    time.sleep(seconds)
    after, elapsed_s = list_offsets(link, leaders, places, LATEST), time.monotonic() - began_s
    dirs = describe_log_dirs(cluster, set(), set())
    sizes: dict[Place, int] = {}
    by_broker: dict[int, dict[Place, int]] = {}
    for each in dirs:
        for one in each.partitions:
            place = (one.topic, one.partition)
            sizes[place] = max(sizes.get(place, 0), one.size_bytes)
            by_broker.setdefault(each.broker, {})[place] = one.size_bytes
    rates = {
        place: (after[place] - before[place])
        / elapsed_s
        * _record_bytes(place, sizes, starts, after)
        for place in places
        if place in before and place in after
    }
    total = sum(rates.values())
    replication = max(len(p.replica_nodes) for t in metadata.topics for p in t.partitions)
    demand = replace(
        given,
        write_bytes_s=total,
        replication=replication,
        groups=_reads(link, rates, total),
        consumers=_largest_group(link),
    )
    disks = [
        DiskOutlook(
            each.broker,
            float(each.total_bytes - (each.usable_bytes or 0)),
            float(each.total_bytes),
            sum(rates.get(place, 0.0) for place in by_broker.get(each.broker, {})),
        )
        for each in dirs
        if each.total_bytes
    ]
    return Measured(demand, disks, _topic_loads(link, rates))


def _topic_loads(link: Link, rates: dict[Place, float]) -> list[TopicLoad]:
    with ClusterReader(link) as reader:
        groups = reader.described(reader.listed())
    members: dict[str, int] = {}
    for group in groups:
        of_topic: dict[str, int] = {}
        for member in group.members:
            for topic in {topic for topic, _ in member.assigned} | set(member.subscribed):
                of_topic[topic] = of_topic.get(topic, 0) + 1
        for topic, count in of_topic.items():
            members[topic] = max(members.get(topic, 0), count)
    partitions: dict[str, list[float]] = {}
    for (topic, _), rate in rates.items():
        partitions.setdefault(topic, []).append(rate)
    return [
        TopicLoad(topic, len(each), sum(each), members.get(topic, 0))
        for topic, each in sorted(partitions.items())
    ]


def _record_bytes(
    place: Place, sizes: dict[Place, int], starts: dict[Place, int], ends: dict[Place, int]
) -> float:
    records = ends[place] - starts.get(place, 0)
    return sizes.get(place, 0) / records if records > 0 else 0.0


def _reads(link: Link, rates: dict[Place, float], total: float) -> float:
    """How often a byte is read, by the rates of what groups have committed to."""
    lags = read_live(link, [PARTITION_LAG])[PARTITION_LAG]
    read = sum(rates.get((str(key[1]), int(key[2] or 0)), 0.0) for key in lags)
    groups = len({key[0] for key in lags})
    return read / total if total else float(groups)


def _largest_group(link: Link) -> int:
    members = read_live(link, [CONSUMER_GROUP, GROUP_MEMBER])[GROUP_MEMBER]
    counts: dict[object, int] = {}
    for group, _ in members:
        counts[group] = counts.get(group, 0) + 1
    return max(counts.values(), default=1)
