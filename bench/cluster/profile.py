"""Where the nodes of a cluster spend their time under one workload.

    python -m bench.cluster.profile produce --size 100     Python functions, by cProfile
    python -m bench.cluster.profile ack --with perf        native symbols, by Linux's perf

With `ack` one node leads, which is the busiest, and two follow. With `produce` each does both.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench import profile
from bench.cluster.node import CommandNode, PenstockCluster
from bench.cluster.peer import NODES, ClusterPeer, WholeCluster, wait_brokers
from bench.peer import PENSTOCK, PENSTOCK_FSYNC, topic_settings
from bench.process import cpu_seconds
from penstock.testing.cluster import Cluster

WORKLOADS = {name: profile.WORKLOADS[name] for name in ("produce", "ack")}


def main() -> int:
    options = profile.parse("python -m bench.cluster.profile", WORKLOADS)
    name = PENSTOCK_FSYNC if options.fsync else PENSTOCK
    with tempfile.TemporaryDirectory(prefix="profile-") as scratch:
        folder = Path(scratch)
        cluster = PenstockCluster(folder / "cluster", NODES)
        recordings = {number: folder / f"recording-{number}" for number in cluster.nodes}
        if options.tool == "cprofile":
            _trace(cluster, recordings)
        try:
            cluster.start_all()
            wait_brokers(cluster)
            watches = {}
            if options.tool == "perf":
                for number, node in cluster.nodes.items():
                    watches[number] = profile.start_perf(node.pid, recordings[number])
            peer = ClusterPeer(name, WholeCluster(cluster), topic_settings(name), NODES)
            before = _cpu(cluster)
            measured = WORKLOADS[options.workload](peer, options.size, profile.SCALE)
            used = {number: spent - before[number] for number, spent in _cpu(cluster).items()}
        finally:
            cluster.stop_all()
        print(", ".join(f"{key} {value:.4g}" for key, value in measured.items()))
        for number in (max(used, key=used.__getitem__), min(used, key=used.__getitem__)):
            print(f"\n=== node {number}: {used[number]:.2f} s of processor time\n")
            profile.show(recordings[number], watches.get(number), options.rows)
    return 0


def _trace(cluster: Cluster, recordings: Mapping[int, Path]) -> None:
    for number, node in cluster.nodes.items():
        assert isinstance(node, CommandNode)
        node.command = profile.traced_command(recordings[number])


def _cpu(cluster: Cluster) -> dict[int, float]:
    return {number: cpu_seconds(node.pid) for number, node in cluster.nodes.items()}


if __name__ == "__main__":
    sys.exit(main())
