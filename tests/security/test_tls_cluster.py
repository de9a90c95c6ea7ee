"""Three nodes that speak TLS to clients, to each other and to controllers, and check each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.testing.cluster import Cluster
from tests.patience import wait_until
from tests.security.tls_kit import PATIENCE_S, Keys

COUNT = 3000
VALUE = bytes(2000)
"""Together more than one answer holds, so that followers read in full buffers."""


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def cluster(tmp_path: Path, keys: Keys) -> Iterator[Cluster]:
    secure: dict[str, object] = {
        "listener.security.protocol.map": "PLAINTEXT:SSL,INTERNAL:SSL,CONTROLLER:SSL",
        "ssl.client.auth": "required",
    }
    with Cluster(tmp_path / "cluster", 3, keys.node_settings | secure) as running:
        yield running


def test_nothing_acknowledged_is_lost_when_a_leader_is_killed(cluster: Cluster, keys: Keys) -> None:
    settings = keys.librdkafka(keys.client) | {"bootstrap.servers": cluster.bootstrap_servers}
    admin = AdminClient(settings)
    new = NewTopic("orders", num_partitions=1, replication_factor=3)
    admin.create_topics([new])["orders"].result(PATIENCE_S)

    def leader() -> int:
        topics = admin.list_topics("orders", timeout=PATIENCE_S).topics
        return topics["orders"].partitions[0].leader if topics["orders"].partitions else -1

    wait_until(lambda: leader() > 0, "no leader")
    acknowledged: list[int] = []
    producer = Producer(settings | {"acks": "all", "linger.ms": 5, "log_level": 0})
    for number in range(COUNT):
        producer.produce(
            "orders",
            VALUE,
            str(number),
            on_delivery=lambda error, _, number=number: (
                acknowledged.append(number) if error is None else None
            ),
        )
        producer.poll(0)
        if number == COUNT // 2:
            killed = leader()
            cluster.kill(killed)
    assert producer.flush(PATIENCE_S) == 0
    assert len(acknowledged) == COUNT
    wait_until(lambda: leader() not in (-1, killed), "no other leader")
    assert set(read_keys(settings)) == set(range(COUNT))


def read_keys(settings: dict[str, str]) -> Iterator[int]:
    consumer = Consumer(settings | {"group.id": "check", "log_level": 0})
    try:
        where = TopicPartition("orders", 0)
        _, end = consumer.get_watermark_offsets(where, PATIENCE_S)
        consumer.assign([TopicPartition("orders", 0, 0)])
        offset = 0
        while offset < end:
            message = consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None
            offset = message.offset() + 1
            yield int(message.key())
    finally:
        consumer.close()
