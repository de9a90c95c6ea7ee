"""Offset commits of a hundred groups, as fast as the coordinator acknowledges them."""

from __future__ import annotations

from bench.case.scale import Scale
from bench.load.child import run_load
from bench.peer import Peer
from bench.process import cpu_seconds


def commit(peer: Peer, scale: Scale) -> dict[str, float]:
    peer.set_internal_flush()
    with peer.topic(1) as topic:
        spec = {
            "port": peer.broker.port,
            "topic": topic,
            "groups": scale.commit_groups,
            "warmup_seconds": scale.commit_seconds / 3,
            "seconds": scale.commit_seconds,
        }
        before = cpu_seconds(peer.broker.pid)
        answer = run_load("commit", spec, timeout_s=120)
        used = cpu_seconds(peer.broker.pid) - before
    return {
        "group.commits": answer["commits_per_s"],
        # Beside the rate, to see which side of the wire is the limit.
        "group.commits.broker_us": 1e6 * used / answer["commits"],
    }
