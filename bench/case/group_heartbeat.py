"""Thousands of groups of one member: what their heartbeats cost a node, and its memory."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.case.scale import Scale
from bench.load.child import Load, LoadFailedError
from bench.load.heartbeat import INTERVAL_S
from bench.peer import Peer, new_broker, topic_settings
from bench.process import cpu_seconds, rss_mb


def heartbeat(peer: Peer, scale: Scale) -> dict[str, float]:
    """On a node of its own, whose memory shows these groups and nothing else."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        broker = new_broker(peer.name, Path(scratch) / "data")
        broker.start()
        own = Peer(peer.name, broker, topic_settings(peer.name))
        try:
            own.set_internal_flush()
            return measure(own, scale)
        finally:
            broker.kill()


def measure(own: Peer, scale: Scale) -> dict[str, float]:
    spec = {
        "port": own.broker.port,
        "topic": own.create_topic(1),
        "groups": scale.heartbeat_groups,
        # Whoever compiles while running is given some time for it.
        "warmup_seconds": scale.idle_seconds,
        "seconds": scale.idle_seconds + 1,
    }
    load = Load("heartbeat", spec, timeout_s=240)
    load.wait_ready()
    before, began = cpu_seconds(own.broker.pid), time.monotonic()
    time.sleep(scale.idle_seconds)
    used = cpu_seconds(own.broker.pid) - before
    elapsed = time.monotonic() - began
    memory = rss_mb(own.broker.pid)
    answer = load.result()
    if answer["errors"] or answer["answers_per_s"] < 0.9 * scale.heartbeat_groups / INTERVAL_S:
        raise LoadFailedError(f"the heartbeats were not served: {answer}")
    return {"group.heartbeat.cpu": 100 * used / elapsed, "group.heartbeat.memory": memory}
