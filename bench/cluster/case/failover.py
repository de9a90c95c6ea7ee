"""A broker that leads thousands of partitions dies, and comes back: until others lead all of them,
and until it is in sync with all of them again."""

from __future__ import annotations

from bench.cluster import failover as meter
from bench.cluster.peer import ClusterPeer
from bench.cluster.scale import Scale


def failover(peer: ClusterPeer, scale: Scale) -> dict[str, float]:
    return meter.measure(peer.cluster, scale.partitions)
