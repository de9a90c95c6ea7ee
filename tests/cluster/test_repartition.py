"""`penstock topics repartition` under load: copied, killed, switched, and taken back.

Two producers write a number for each of their keys; a group reads them. Whatever happens, it and
every later reader see each key's numbers once and in order.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Mapping

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from penstock.cli.cluster import Cluster as OperatedCluster
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.cli.repartition.closing import own_limit
from penstock.testing.cluster import Cluster as ThreeNodes
from tests.cluster.command_kit import begin, run
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

REPARTITION = ("topics", "repartition")
KEYS = 20
PRODUCERS = 2


class Service:
    """A producer of some keys, which can be stopped and started on another topic."""

    def __init__(self, servers: str, number: int) -> None:
        self._servers = servers
        self._keys = range(number, KEYS, PRODUCERS)
        self.sent: dict[bytes, int] = defaultdict(int)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, topic: str) -> None:
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, args=(topic,))
        self._thread.start()

    def _run(self, topic: str) -> None:
        producer = Producer(
            {"bootstrap.servers": self._servers, "enable.idempotence": True, "linger.ms": 5}
        )
        while not self._stop.is_set():
            for number in self._keys:
                key = b"key-%d" % number
                producer.produce(topic, b"%d" % self.sent[key] + b" " * 100, key)
                self.sent[key] += 1
            producer.poll(0)
            time.sleep(0.01)
        assert producer.flush(60) == 0

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()


class Reader:
    """A group of one, which notes what it reads and commits it."""

    def __init__(self, servers: str, group: str, topic: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": group,
                "auto.offset.reset": "error",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe([topic])
        self.seen: dict[bytes, list[int]] = defaultdict(list)

    def read(self, wanted: Mapping[bytes, int]) -> None:
        """Until it has the last number of each key."""
        deadline = time.monotonic() + 60

        def has_all() -> bool:
            return all(self.seen[key][-1:] == [count - 1] for key, count in wanted.items())

        while not has_all():
            assert time.monotonic() < deadline, {k: v[-3:] for k, v in self.seen.items()}
            for record in self._consumer.consume(1000, 0.2):
                if record.error() is not None:
                    raise KafkaException(record.error())
                key, value = record.key(), record.value()
                assert isinstance(key, bytes)
                assert isinstance(value, bytes)
                self.seen[key].append(int(value))
        self._consumer.commit(asynchronous=False)

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def nodes(cluster: Cluster) -> ThreeNodes:
    assert cluster.nodes is not None
    return cluster.nodes


def all_of(nodes: ThreeNodes, topic: str) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = defaultdict(list)
    settings = {"isolation.level": "read_committed"}
    for record in nodes.read(topic, settings=settings, timeout_s=60):
        found[record.key or b""].append(int(record.value or b""))
    return found


def end(nodes: ThreeNodes, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": nodes.bootstrap_servers, "group.id": "looks"})
    try:
        return sum(
            consumer.get_watermark_offsets(TopicPartition(topic, each), timeout=10)[1]
            for each in range(len(consumer.list_topics(topic, timeout=10).topics[topic].partitions))
        )
    finally:
        consumer.close()


def test_a_topic_is_repartitioned_under_load_and_taken_back(
    nodes: ThreeNodes, topic_name: str
) -> None:
    topic, new = topic_name, f"{topic_name}-new"
    servers = nodes.bootstrap_servers
    nodes.create_topic(topic, partitions=3, replication_factor=3)
    services = [Service(servers, each) for each in range(PRODUCERS)]

    def sent() -> dict[bytes, int]:
        return {key: count for each in services for key, count in each.sent.items()}

    def in_order() -> dict[bytes, list[int]]:
        return {key: list(range(count)) for key, count in sent().items()}

    # So much from before that a copy takes a while.
    for service in services:
        for key in (b"key-%d" % each for each in service._keys):
            service.sent[key] = 1500
            nodes.produce(topic, [(key, b"%d" % each + b" " * 100) for each in range(1500)])
        service.start(topic)

    # The copy is killed in the middle, and run again.
    killed = begin(nodes, *REPARTITION, topic, "--partitions", "7", "--to", new, "--json")
    wait_until(lambda: new in nodes_topics(nodes) and end(nodes, new) > 0)
    killed.kill()
    killed.communicate(timeout=60)
    again = run(nodes, *REPARTITION, topic, "--partitions", "7")
    assert again["target"] == new
    assert again["partitioner"] == "crc32"

    # The group is alive while its place in the new topic is set.
    place_at_start(servers, topic, partitions=3)
    reader = Reader(servers, "readers", topic)
    for service in services:
        service.stop()
    kill_when_closed(nodes, topic, "--switch", closed=topic)
    run(nodes, *REPARTITION, topic, "--switch", "--yes")
    cut = sent()
    for service in services:
        service.start(new)
    # Who was forgotten is refused, and never acknowledged.
    with pytest.raises(Exception, match=r"(?i)too large|MSG_SIZE"):
        nodes.produce(topic, [(b"key-0", b"late" + b" " * 100)])
    status = run(nodes, *REPARTITION, topic)
    assert status["phase"] == "switched"
    (place,) = [each for each in status["groups"] if each["group"] == "readers"]
    assert place["members"] == 1
    assert place["left_on_old"] > 0
    reader.read(cut)
    reader.close()
    assert run(nodes, *REPARTITION, topic)["groups"][0]["left_on_old"] == 0
    moved = Reader(servers, "readers", new)
    moved.seen = reader.seen
    wait_until(lambda: all(sent()[key] > cut[key] for key in cut))
    assert run(nodes, *REPARTITION, topic, "--check")["compared"] == sum(cut.values())

    # And back: what came to the new topic comes to the old one.
    for service in services:
        service.stop()
    moved.read(sent())
    moved.close()
    assert moved.seen == in_order(), "once and in order, over both topics"
    assert all_of(nodes, new) == in_order()
    kill_when_closed(nodes, topic, "--back", closed=new)
    back = run(nodes, *REPARTITION, topic, "--back", "--yes")
    assert back["copied"] == sum(sent().values()) - sum(cut.values())
    for service in services:
        service.start(topic)
    returned = Reader(servers, "readers", topic)
    returned.seen = moved.seen
    before = sent()
    wait_until(lambda: all(sent()[key] > before[key] for key in before))
    for service in services:
        service.stop()
    returned.read(sent())
    returned.close()
    assert returned.seen == in_order()
    assert all_of(nodes, topic) == in_order()


def kill_when_closed(nodes: ThreeNodes, topic: str, phase: str, *, closed: str) -> None:
    """In its middle: it has closed a topic, and waits."""
    cluster = OperatedCluster(Target(nodes.bootstrap_servers))
    started = begin(nodes, *REPARTITION, topic, phase, "--yes", "--json")
    wait_until(lambda: own_limit(Link(cluster), closed) is not None)
    started.kill()
    started.communicate(timeout=60)


def nodes_topics(nodes: ThreeNodes) -> set[str]:
    return {each.topic for each in nodes.partitions()}


def place_at_start(servers: str, topic: str, partitions: int) -> None:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "readers"})
    consumer.commit(
        offsets=[TopicPartition(topic, each, 0) for each in range(partitions)], asynchronous=False
    )
    consumer.close()
