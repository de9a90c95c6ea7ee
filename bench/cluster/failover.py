"""A broker with thousands of partitions: how long its cluster is without leaders when it is killed,
and how long it takes to be in sync again.

    python -m bench.cluster.failover --partitions 10000

Every partition has its first replica on the node that is killed, so that it leads all of them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.process import rss_mb
from penstock.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
)
from penstock.testing.cluster import Cluster
from penstock.testing.cluster_view import NodeSilentError, call

VICTIM = 1
PARTITIONS_PER_TOPIC = 500
PARTITIONS_PER_REQUEST = 2_000
"""Each is several elements of the request, and a broker takes only so many in one."""
_NAME = "wide"
_CREATE_VERSION = 7
_METADATA_VERSION = 12
_CALL_S = 60.0
_LIMIT_S = 300.0
_LOOK_S = 0.02

Figures = dict[str, float]


def measure(cluster: Cluster, partitions: int = 10_000) -> Figures:
    """On a cluster of at least three nodes without topics; the last of them stay whole."""
    topics = _create(cluster, partitions)
    others = [number for number in cluster.nodes if number != VICTIM]
    _wait_all(cluster, others[0], topics, _is_in_sync)
    _wait_made(cluster, partitions)
    figures = {"partitions.memory": max(rss_mb(node.pid) for node in cluster.nodes.values())}
    began = time.monotonic()
    cluster.kill(VICTIM)
    _wait_all(cluster, others[0], topics, _has_other_leader)
    figures["partitions.failover"] = time.monotonic() - began
    figures["partitions.start.killed"] = _start(cluster, others[0], topics)
    cluster.stop(VICTIM)
    figures["partitions.start.stopped"] = _start(cluster, others[0], topics)
    return figures


def _start(cluster: Cluster, seen_by: int, topics: list[str]) -> float:
    """Until every partition has the victim in its in-sync set."""
    began = time.monotonic()
    cluster.launch(VICTIM)
    _wait_all(cluster, seen_by, topics, _is_in_sync)
    elapsed = time.monotonic() - began
    cluster.nodes[VICTIM].wait_ready()
    return elapsed


def _create(cluster: Cluster, partitions: int) -> list[str]:
    sizes = _parts(partitions, PARTITIONS_PER_TOPIC)
    topics = [_topic(cluster, f"{_NAME}-{number}", size) for number, size in enumerate(sizes)]
    step = PARTITIONS_PER_REQUEST // PARTITIONS_PER_TOPIC
    for first in range(0, len(topics), step):
        request = CreateTopicsRequest(topics=topics[first : first + step], timeout_ms=60_000)
        address = cluster.nodes[VICTIM].address
        answer = call(address, request, _CREATE_VERSION, CreateTopicsResponse, _CALL_S)
        for each in answer.topics:
            if each.error_code:
                raise RuntimeError(f"{each.name}: error {each.error_code} {each.error_message}")
    return [topic.name for topic in topics]


def _wait_made(cluster: Cluster, partitions: int) -> None:
    """Until every node has them on its disk: in sync they are from their first moment."""
    deadline = time.monotonic() + _LIMIT_S
    for node in cluster.nodes.values():
        while sum(1 for _ in node.data_dir.glob(f"{_NAME}-*")) < partitions:
            if time.monotonic() > deadline:
                raise RuntimeError(f"node {node.id} lacks partitions after {_LIMIT_S:.0f} s")
            time.sleep(1)


def _parts(total: int, size: int) -> Iterator[int]:
    while total > 0:
        yield min(total, size)
        total -= size


def _topic(cluster: Cluster, name: str, partitions: int) -> CreatableTopic:
    replicas = [VICTIM, *(number for number in cluster.nodes if number != VICTIM)][:3]
    assigned = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=_turned(replicas, index))
        for index in range(partitions)
    ]
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=assigned)


def _turned(replicas: list[int], index: int) -> list[int]:
    """The victim first; who comes after it in turns."""
    first, *rest = replicas
    turn = index % len(rest)
    return [first, *rest[turn:], *rest[:turn]]


def _is_in_sync(partition: MetadataResponsePartition) -> bool:
    return partition.leader_id >= 0 and set(partition.isr_nodes) == set(partition.replica_nodes)


def _has_other_leader(partition: MetadataResponsePartition) -> bool:
    return partition.leader_id >= 0 and partition.leader_id != VICTIM


def _wait_all(
    cluster: Cluster,
    seen_by: int,
    topics: list[str],
    is_right: Callable[[MetadataResponsePartition], bool],
) -> None:
    """Topic by topic: to ask for everything again and again would be a load of its own."""
    address = cluster.nodes[seen_by].address
    deadline = time.monotonic() + _LIMIT_S
    for name in topics:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
        while True:
            try:
                seen = call(address, request, _METADATA_VERSION, MetadataResponse, _CALL_S)
                if all(is_right(each) for each in seen.topics[0].partitions):
                    break
            except NodeSilentError:
                pass
            if time.monotonic() > deadline:
                raise RuntimeError(f"{name} is not as it should be after {_LIMIT_S:.0f} s")
            time.sleep(_LOOK_S)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.cluster.failover")
    options.add_argument("--partitions", type=int, default=10_000)
    wanted = options.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="penstock-failover-") as folder,
        Cluster(Path(folder) / "cluster") as cluster,
    ):
        for name, value in measure(cluster, wanted.partitions).items():
            print(f"{name:28} {value:8.2f}", flush=True)


if __name__ == "__main__":
    main()
