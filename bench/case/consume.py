"""Read a topic of 1 KiB records from its start, with librdkafka and with Kafka's Java consumer."""

from __future__ import annotations

from pathlib import Path

from bench.case.produce import JAVA_FLAGS, PARTITIONS
from bench.case.scale import Scale
from bench.load.child import LoadFailedError, run_load
from bench.peer import Peer
from tools.apache_kafka import run_tool

SIZE = 1024
SOURCE = Path(__file__).resolve().parent.parent / "java" / "Consume.java"


def consume(peer: Peer, scale: Scale) -> dict[str, float]:
    count = scale.consume_records
    with peer.topic(PARTITIONS) as topic:
        spec = {"bootstrap": peer.broker.bootstrap_servers, "topic": topic}
        run_load("produce", spec | {"size": SIZE, "count": count}, timeout_s=180)
        wanted = spec | {"partitions": PARTITIONS, "count": count}
        native = run_load("consume", wanted, timeout_s=180)
        java_seconds = _java(peer, topic, count)
    megabytes = count * SIZE / 1e6
    return {
        "consume.librdkafka.1024": megabytes / native["seconds"],
        "consume.java.1024": megabytes / java_seconds,
    }


def _java(peer: Peer, topic: str, count: int) -> float:
    args = [peer.broker.bootstrap_servers, topic, str(PARTITIONS), str(count)]
    answer = run_tool(str(SOURCE), args, timeout=180, jvm=JAVA_FLAGS)
    if answer.returncode:
        raise LoadFailedError(answer.stderr.strip()[-500:])
    return float(answer.stdout.split()[0])
