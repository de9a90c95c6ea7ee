"""One record at a time: until it is acknowledged, and until a waiting consumer has it."""

from __future__ import annotations

from bench.case.scale import Scale
from bench.load.child import run_load
from bench.peer import Peer


def latency(peer: Peer, kind: str, scale: Scale) -> dict[str, float]:
    with peer.topic(1) as topic:
        spec = {
            "bootstrap": peer.broker.bootstrap_servers,
            "topic": topic,
            "kind": kind,
            "count": scale.latency_records,
            "warmup": max(50, scale.latency_records // 5),
        }
        answer = run_load("latency", spec, timeout_s=180)
    return {
        f"latency.{kind}.p50": answer["p50_ms"],
        f"latency.{kind}.p99": answer["p99_ms"],
    }
