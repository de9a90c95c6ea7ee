"""What a node's other partitions cost a request, a restart, and memory."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.case.scale import Scale
from bench.load.child import run_load
from bench.peer import Broker, Peer, new_broker, timed_start, topic_settings
from bench.process import cpu_seconds, rss_mb

# Apache Kafka creates at most so many in one request.
PARTITIONS_PER_TOPIC = 1_000


def partition(peer: Peer, scale: Scale) -> dict[str, float]:
    """On a node of its own, which is thrown away afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        broker = new_broker(peer.name, Path(scratch) / "data")
        broker.start()
        own = Peer(peer.name, broker, topic_settings(peer.name))
        try:
            return _measure(own, scale)
        finally:
            broker.kill()


def _measure(own: Peer, scale: Scale) -> dict[str, float]:
    probe = own.create_topic(1, "probe")
    _request_cost_us(own.broker, probe, scale)
    one = _request_cost_us(own.broker, probe, scale)
    _add_partitions(own, scale.partitions)
    time.sleep(scale.settle_seconds)
    many = _request_cost_us(own.broker, probe, scale)
    memory = rss_mb(own.broker.pid)
    own.broker.stop()
    return {
        "partitions.cpu.one": one,
        "partitions.cpu.many": many,
        "partitions.cpu.ratio": many / one,
        "partitions.memory": memory,
        "partitions.restart": timed_start(own.broker),
    }


def _add_partitions(own: Peer, count: int) -> None:
    while count > 0:
        some = min(count, PARTITIONS_PER_TOPIC)
        own.create_topic(some, "filler")
        count -= some


def _request_cost_us(broker: Broker, topic: str, scale: Scale) -> float:
    before = cpu_seconds(broker.pid)
    spec = {"port": broker.port, "topic": topic, "rounds": scale.request_rounds}
    answer = run_load("request", spec, timeout_s=120)
    return (cpu_seconds(broker.pid) - before) / float(answer["requests"]) * 1e6
