"""Resident memory of the largest of the nodes, when nothing happens and under load."""

from __future__ import annotations

import time

from bench.cluster.peer import ClusterPeer
from bench.cluster.scale import Scale
from bench.process import peak_rss_mb, reset_peak, rss_mb


def idle(peer: ClusterPeer, scale: Scale) -> dict[str, float]:
    """To be run first, on nodes that have just started."""
    time.sleep(2 * scale.settle_seconds)
    return {"memory.idle": max(rss_mb(pid) for pid in peer.pids)}


def reset_peaks(peer: ClusterPeer) -> None:
    for pid in peer.pids:
        reset_peak(pid)


def peak_mb(peer: ClusterPeer) -> float:
    """The most since `reset_peaks`."""
    return max(peak_rss_mb(pid) for pid in peer.pids)
