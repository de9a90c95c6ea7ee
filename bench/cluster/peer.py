"""A cluster of three as a peer of the benchmark: started fresh, ended whatever happens.

Only one cluster runs at a time: an idle one beside it would still take from the cores. The
Penstock peers share one cluster and differ in their topics' settings only.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient

from bench.cluster.node import cluster_class
from bench.peer import Peer, topic_settings
from penstock.testing.cluster import Cluster

NODES = 3
_UP_S = 60.0


class WholeCluster:
    """Looks like one broker to those who do not care that it is three."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.data_dir = cluster.folder
        self.port = cluster.nodes[1].ports.clients

    @property
    def bootstrap_servers(self) -> str:
        return self.cluster.bootstrap_servers

    @property
    def pid(self) -> int:
        return self.cluster.nodes[1].pid

    def start(self) -> None:
        self.cluster.start_all()

    def stop(self) -> None:
        self.cluster.stop_all()

    def kill(self) -> None:
        self.cluster.kill_all()


@dataclass(frozen=True)
class ClusterPeer(Peer):
    broker: WholeCluster

    @property
    def cluster(self) -> Cluster:
        return self.broker.cluster

    @property
    def pids(self) -> Sequence[int]:
        return [node.pid for node in self.cluster.nodes.values()]

    def create_topic(self, partitions: int, label: str = "bench") -> str:
        name = super().create_topic(partitions, label)
        self.cluster.wait_in_sync()
        return name


@contextmanager
def running_cluster(system: str, folder: Path) -> Iterator[Cluster]:
    """Up, with every node let in."""
    cluster = cluster_class(system)(folder, NODES)
    try:
        cluster.start_all()
        wait_brokers(cluster)
        yield cluster
    finally:
        cluster.kill_all()


@contextmanager
def peers(names: Sequence[str], scratch: Path | None) -> Iterator[list[ClusterPeer]]:
    """Peers of one system, on one cluster of it."""
    system = names[0].partition("-")[0]
    with (
        tempfile.TemporaryDirectory(
            prefix="bench-", dir=scratch, ignore_cleanup_errors=True
        ) as folder,
        running_cluster(system, Path(folder) / system) as cluster,
    ):
        whole = WholeCluster(cluster)
        yield [ClusterPeer(name, whole, topic_settings(name), NODES) for name in names]


def wait_brokers(cluster: Cluster) -> None:
    """Until all its nodes are let in."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 3})
    deadline = time.monotonic() + _UP_S
    while len(admin.list_topics(timeout=30).brokers) < len(cluster.nodes):
        if time.monotonic() > deadline:
            raise TimeoutError("not all nodes have joined the cluster")
        time.sleep(0.05)
