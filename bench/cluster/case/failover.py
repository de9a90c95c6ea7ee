"""A broker that leads thousands of partitions dies, and comes back: until others lead all of them,
and until it is in sync with all of them again.

Asked topic by topic of one of the others, so that looking costs the cluster little.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Final

from confluent_kafka.admin import AdminClient, PartitionMetadata
from confluent_kafka.cimpl import NewTopic

from bench.cluster.peer import ClusterPeer
from bench.cluster.scale import Scale
from penstock.testing.cluster import Cluster

# Apache Kafka creates at most so many in one request.
PARTITIONS_PER_TOPIC: Final = 1_000
_TIMEOUT_S: Final = 180.0
_LOOK_S: Final = 0.02

_serial = itertools.count()


def failover(peer: ClusterPeer, scale: Scale) -> dict[str, float]:
    cluster = peer.cluster
    # Another election, that of the active controller, is not what is measured here.
    victim = next(number for number in cluster.nodes if number != cluster.controller())
    other = next(number for number in cluster.nodes if number != victim)
    view = _admin(cluster.nodes[other].bootstrap_servers)
    topics = _fill(view, cluster, victim, scale.partitions)
    _wait(view, topics, lambda seen: seen.leader == victim and _is_whole(seen))
    time.sleep(scale.settle_seconds)
    began = time.monotonic()
    cluster.kill(victim)
    _wait(view, topics, lambda seen: seen.leader not in (victim, -1))
    led = time.monotonic()
    # It is to be out of sync everywhere before it comes back.
    _wait(view, topics, lambda seen: victim not in seen.isrs)
    time.sleep(scale.settle_seconds)
    started = time.monotonic()
    cluster.launch(victim)
    _wait(view, topics, _is_whole)
    return {"failover.led": led - began, "failover.in_sync": time.monotonic() - started}


def _fill(admin: AdminClient, cluster: Cluster, leader: int, count: int) -> list[str]:
    """Topics of which all partitions are led by one node, and followed by the others."""
    names: list[str] = []
    others = [number for number in cluster.nodes if number != leader]
    for begin in range(0, count, PARTITIONS_PER_TOPIC):
        name = f"failover-{next(_serial)}"
        size = min(PARTITIONS_PER_TOPIC, count - begin)
        replicas = [[leader, *_rotated(others, index)] for index in range(size)]
        topic = NewTopic(name, num_partitions=size, replica_assignment=replicas)
        admin.create_topics([topic], request_timeout=120)[name].result(timeout=180)
        names.append(name)
    return names


def _rotated(others: Sequence[int], by: int) -> list[int]:
    at = by % len(others)
    return [*others[at:], *others[:at]]


def _is_whole(seen: PartitionMetadata) -> bool:
    return seen.leader >= 0 and len(seen.isrs) == len(seen.replicas)


def _wait(
    admin: AdminClient, topics: Sequence[str], is_done: Callable[[PartitionMetadata], bool]
) -> None:
    """Until it holds for every partition of every topic, one topic after the other."""
    deadline = time.monotonic() + _TIMEOUT_S
    for name in topics:
        while not all(map(is_done, _partitions(admin, name))):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name}: still waiting after {_TIMEOUT_S:.0f} s")
            time.sleep(_LOOK_S)


def _partitions(admin: AdminClient, topic: str) -> Sequence[PartitionMetadata]:
    return list(admin.list_topics(topic, timeout=60).topics[topic].partitions.values())


def _admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
