"""Produce with acks=all to three partitions, with librdkafka and with Kafka's Java producer."""

from __future__ import annotations

import re
from random import Random
from string import ascii_letters
from tempfile import NamedTemporaryFile

from bench.case.scale import Scale
from bench.load.child import LoadFailedError, run_load
from bench.peer import Peer
from tools.apache_kafka import run_tool

PARTITIONS = 3
SIZES = (100, 1024)
PAYLOADS = 1000
# The heap and collector that Kafka's own script gives this tool.
JAVA_FLAGS = (
    "-XX:-UseSerialGC",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:TieredStopAtLevel=4",
    "-Xmx512m",
)
_JAVA_RATE = re.compile(r"records sent, ([0-9.]+) records/sec")


def native(peer: Peer, size: int, scale: Scale) -> dict[str, float]:
    count = scale.native_records[size]
    with peer.topic(PARTITIONS) as topic:
        spec = {"bootstrap": peer.broker.bootstrap_servers, "topic": topic}
        before = peer.cpu_seconds()
        answer = run_load("produce", spec | {"size": size, "count": count}, timeout_s=180)
        broker_cpu = peer.cpu_seconds() - before
        stored = peer.end_offsets(topic, PARTITIONS)
    if stored != count + 1:
        raise LoadFailedError(f"{stored} records stored of {count + 1} sent")
    key, seconds = f"produce.librdkafka.{size}", answer["seconds"]
    return {
        key: _rate(count / seconds, size),
        # Beside the rate, to see which side of the wire is the limit.
        f"{key}.client_cores": answer["client_cpu_seconds"] / seconds,
        f"{key}.broker_cores": broker_cpu / seconds,
    }


def java(peer: Peer, size: int, scale: Scale) -> dict[str, float]:
    count = scale.java_records[size]
    with peer.topic(PARTITIONS) as topic, NamedTemporaryFile("w", suffix=".txt") as payloads:
        # Left to itself the tool makes up every byte anew, which costs it more than sending them.
        payloads.write("\n".join(_payloads(size)))
        payloads.flush()
        args = ["--bootstrap-server", peer.broker.bootstrap_servers, "--topic", topic]
        args += ["--num-records", str(count), "--payload-file", payloads.name]
        args += ["--throughput", "-1"]
        # The first records meet a client that is not compiled yet.
        args += ["--warmup-records", str(count // 5), "--command-property", "acks=all"]
        answer = run_tool("kafka-producer-perf-test", args, timeout=240, jvm=JAVA_FLAGS)
        stored = peer.end_offsets(topic, PARTITIONS)
    rates = _JAVA_RATE.findall(answer.stdout)
    if not rates or stored != count:
        said = (answer.stderr + answer.stdout)[-500:]
        raise LoadFailedError(f"{stored} records stored of {count} sent: {said}")
    # The last line is the summary of everything after the warm-up.
    return {f"produce.java.{size}": _rate(float(rates[-1]), size)}


def _payloads(size: int) -> list[str]:
    chance = Random(size)
    return ["".join(chance.choices(ascii_letters, k=size)) for _ in range(PAYLOADS)]


def _rate(records_per_s: float, size: int) -> float:
    """Small records are counted, large ones weighed."""
    return records_per_s if size == SIZES[0] else records_per_s * size / 1e6
