"""Leaders of partitions and keepers of share state die while members of a share group work: nothing
that was acknowledged is delivered again, and nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import AcknowledgeType, KafkaException, Message, ShareConsumer

from penstock.testing.cluster import Cluster
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.share import set_group

TOPIC, GROUP = "work", "workers"
COUNT = 400
WAIT_S = 90.0
SETTINGS = {
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.min.record.lock.duration.ms": "1000",
    "share.coordinator.state.topic.num.partitions": "6",
}


class Worker:
    """Accepts what it gets; `done` is what the broker said is kept."""

    def __init__(self, servers: str, done: set[bytes], seen: list[bytes]) -> None:
        self._done = done
        self._seen = seen
        self._consumer = ShareConsumer(
            {
                "bootstrap.servers": servers,
                "group.id": GROUP,
                "share.acknowledgement.mode": "explicit",
                "max.poll.records": 20,
                "log_level": 0,
            }
        )
        self._consumer.subscribe([TOPIC])

    def work(self) -> None:
        found = [one for one in self._polled() if one.error() is None]
        for one in found:
            value = one.value() or b""
            assert value not in self._done, f"{value!r} was acknowledged before"
            self._seen.append(value)
            self._consumer.acknowledge(one, AcknowledgeType.ACCEPT)
        if found:
            self._done |= self._kept(found)

    def _polled(self) -> list[Message]:
        try:
            return list(self._consumer.poll(0.3))
        except KafkaException:
            return []

    def _kept(self, found: list[Message]) -> set[bytes]:
        try:
            results = self._consumer.commit_sync(10.0)
        except KafkaException:
            return set()
        kept = {place.partition for place, error in results.items() if error is None}
        return {one.value() or b"" for one in found if one.partition() in kept}

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def workers(penstock_cluster: Cluster) -> Iterator[tuple[list[Worker], set[bytes], list[bytes]]]:
    cluster = penstock_cluster
    cluster.create_topic(TOPIC, partitions=4)
    cluster.produce(TOPIC, [str(number) for number in range(COUNT)])
    with closing(Connection(cluster.bootstrap_servers)) as connection:
        set_group(connection, GROUP, auto_offset_reset="earliest", record_lock_duration_ms="2000")
    done: set[bytes] = set()
    seen: list[bytes] = []
    found = [Worker(cluster.bootstrap_servers, done, seen) for _ in range(2)]
    yield found, done, seen
    for worker in found:
        worker.close()


@pytest.mark.penstock(nodes=3, settings=SETTINGS)
def test_leaders_die(
    penstock_cluster: Cluster, workers: tuple[list[Worker], set[bytes], list[bytes]]
) -> None:
    cluster, (members, done, seen) = penstock_cluster, workers
    deadline = time.monotonic() + WAIT_S

    def work_until(count: int) -> None:
        while len(done) < count:
            for member in members:
                member.work()
            assert time.monotonic() < deadline, f"{len(done)} of {COUNT} are done"

    work_until(COUNT // 4)
    away = cluster.leader(TOPIC, 0)
    cluster.kill(away)
    work_until(COUNT // 2)
    cluster.start(away)
    cluster.wait_in_sync()
    cluster.kill(next(node for node in cluster.nodes if node != away))
    work_until(COUNT)
    assert done == {b"%d" % number for number in range(COUNT)} == set(seen)
