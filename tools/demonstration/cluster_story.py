"""Three nodes: the leader of a partition is killed while a producer writes to it.

How long the producer hears nothing is measured from acknowledgement to acknowledgement.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tools.demonstration.broker_story import QUIET, read_all
from tools.demonstration.local_cluster import LocalCluster
from tools.demonstration.process import interrupts_wait
from tools.demonstration.telling import ClaimError, chapter, check, say, size

TOPIC = "transfers"
PATIENCE_S = 60.0
_EVERY_S = 0.002
_SOME = 500


class Speaker(threading.Thread):
    """Sends numbers to one partition, one every two milliseconds, and notes when each was heard."""

    def __init__(self, servers: str) -> None:
        super().__init__(name="speaker", daemon=True)
        self.heard_s: list[float] = []
        self.acknowledged: list[bytes] = []
        self.failed: list[str] = []
        self.sent = 0
        self._stopping = threading.Event()
        settings = {"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 0}
        self._producer = Producer(settings | QUIET)

    def run(self) -> None:
        while not self._stopping.is_set():
            self._producer.produce(TOPIC, b"%d" % self.sent, partition=0, on_delivery=self._heard)
            self.sent += 1
            self._producer.poll(_EVERY_S)
        self._producer.flush(PATIENCE_S)

    def _heard(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failed.append(str(error))
            return
        value = message.value()
        assert isinstance(value, bytes)
        self.heard_s.append(time.monotonic())
        self.acknowledged.append(value)

    def stop(self) -> None:
        self._stopping.set()
        if self.is_alive():
            self.join(PATIENCE_S)

    def silence_s(self, since: float) -> float:
        """The longest, from the last acknowledgement before `since` on."""
        times = list(self.heard_s)
        first = max((at for at, heard in enumerate(times) if heard <= since), default=0)
        return max((later - one for one, later in pairwise(times[first:])), default=0.0)


def tell_of_the_cluster(home: Path) -> None:
    chapter("5  Three nodes, and a leader dies")
    cluster = LocalCluster(home / "cluster")
    try:
        start(cluster)
        servers = cluster.bootstrap_servers
        speaker = Speaker(servers)
        try:
            leader = create(servers)
            kill(cluster, speaker, leader)
            bring_back(cluster, leader)
        finally:
            speaker.stop()
        prove(servers, speaker)
    finally:
        cluster.stop()


def start(cluster: LocalCluster) -> None:
    say("$ penstock cluster start --nodes 3")
    with interrupts_wait():
        cluster.start()
    took = cluster.wait_in_sync(1)
    memory = ", ".join(size(each) for each in cluster.memory_bytes())
    say(f"three nodes ready and in sync after {took:.1f} s", f"they use {memory} of memory")


def create(servers: str) -> int:
    """A topic with a replica on each node; who leads it."""
    admin = AdminClient({"bootstrap.servers": servers} | QUIET)
    admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(PATIENCE_S)
    leader = leader_of(servers)
    detail = "acknowledged when every node in sync has it on disk, two at least"
    say(f"{TOPIC}, three replicas, led by node {leader}", detail)
    return leader


def leader_of(servers: str) -> int:
    admin = AdminClient({"bootstrap.servers": servers} | QUIET)
    found: list[int] = []

    def is_led() -> bool:
        partitions = admin.list_topics(TOPIC, timeout=PATIENCE_S).topics[TOPIC].partitions
        found[:] = [each.leader for each in partitions.values()]
        return bool(found) and found[0] >= 0

    wait_until(is_led, f"{TOPIC} has no leader")
    return found[0]


def kill(cluster: LocalCluster, speaker: Speaker, leader: int) -> None:
    speaker.start()
    wait_until(lambda: len(speaker.heard_s) > _SOME, "the producer is not heard")
    began = time.monotonic()
    cluster.run("kill", leader)
    before = len(speaker.heard_s)
    wait_until(lambda: len(speaker.heard_s) > before + _SOME, "the producer does not go on")
    detail = f"kill -9 after {before:,} acknowledged records"
    say(f"$ penstock cluster kill {leader}", detail)
    other = leader_of(cluster.bootstrap_servers)
    silence = f"{speaker.silence_s(began) * 1000:.0f} ms"
    say(f"the producer heard nothing for {silence}, then went on with node {other}")


def bring_back(cluster: LocalCluster, node: int) -> None:
    say(f"$ penstock cluster restart {node}")
    cluster.run("restart", node)
    took = cluster.wait_in_sync(2)
    say(f"node {node} is back, has fetched what it missed, and is in sync", f"{took:.1f} s")


def prove(servers: str, speaker: Speaker) -> None:
    found = [value for _, value in sorted(read_all(servers, TOPIC, 1).items())]
    count = len(speaker.acknowledged)
    say(f"{speaker.sent:,} records sent, {count:,} acknowledged, {len(found):,} there")
    check(not speaker.failed and count == speaker.sent, "all were acknowledged in the end")
    check(set(speaker.acknowledged) <= set(found), "nothing that was acknowledged is lost")
    in_order = [b"%d" % number for number in range(speaker.sent)]
    check(found == in_order, "each is there once, in the order it was sent")


def wait_until(reached: Callable[[], Any], complaint: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        if time.monotonic() > deadline:
            raise ClaimError(f"{complaint} after {PATIENCE_S:.0f} s")
        time.sleep(0.01)
