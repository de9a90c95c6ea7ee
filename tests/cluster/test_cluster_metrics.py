"""What three nodes tell Prometheus about their cluster, while one of them is down."""

from __future__ import annotations

import time
from contextlib import closing
from urllib.request import urlopen

import pytest
from confluent_kafka import AcknowledgeType, Consumer, Message, Producer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families

from penstock.testing.cluster import Cluster
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.share import set_group, share_member
from tests.patience import wait_until

WAIT_S = 60.0


def scrape(cluster: Cluster, node: int) -> dict[str, float]:
    """Those without labels."""
    with urlopen(f"http://{cluster.nodes[node].metrics}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.labels
    }


def total(cluster: Cluster, name: str) -> float:
    return sum(scrape(cluster, node)[f"penstock_{name}"] for node in cluster.running)


@pytest.mark.penstock(nodes=3, metrics=True, settings={"replica.lag.time.max.ms": 3000})
def test_a_node_goes_and_comes_back(penstock_cluster: Cluster) -> None:
    cluster = penstock_cluster
    cluster.create_topic("three", partitions=6)
    cluster.produce("three", [str(number) for number in range(60)])
    cluster.create_topic("lonely", partitions=3, replication_factor=1)
    cluster.wait_in_sync()
    names = ("under_replicated_partitions", "under_min_isr_partitions", "offline_partitions")
    assert [total(cluster, name) for name in (*names, "fenced_brokers")] == [0, 0, 0, 0]
    assert (total(cluster, "active_controller"), total(cluster, "active_brokers")) == (1, 3)
    assert total(cluster, "led_partitions") == 9
    assert scrape(cluster, cluster.controller())["penstock_active_controller"] == 1
    wait_until(lambda: total(cluster, "replica_lag_max") == 0)
    elections, shrinks = total(cluster, "leader_elections"), total(cluster, "isr_shrinks")

    away = next(each for each in cluster.nodes if each != cluster.controller())
    led = scrape(cluster, away)["penstock_led_partitions"]
    shrinks -= scrape(cluster, away)["penstock_isr_shrinks"]
    elections -= scrape(cluster, away)["penstock_leader_elections"]
    cluster.kill(away)
    wait_until(lambda: total(cluster, "under_replicated_partitions") == 6)
    # The one of its own that nobody else has is offline; all others are led again.
    wait_until(lambda: total(cluster, "offline_partitions") == 1)
    assert total(cluster, "fenced_brokers") == 1
    assert total(cluster, "active_brokers") == 2
    assert total(cluster, "under_min_isr_partitions") == 0
    assert total(cluster, "leader_elections") - elections == led - 1
    assert total(cluster, "unclean_leader_elections") == 0
    assert total(cluster, "isr_shrinks") - shrinks == 6 - (led - 1)
    cluster.produce("three", ["while it is down"] * 60, timeout_s=WAIT_S)
    assert total(cluster, "replica_lag_max") > 0

    expands = total(cluster, "isr_expands")
    cluster.start(away)
    cluster.wait_in_sync()
    wait_until(lambda: total(cluster, "isr_expands") - expands == 6)
    wait_until(lambda: total(cluster, "replica_lag_max") == 0)
    wait_until(lambda: total(cluster, "metadata_lag") == 0)
    assert [total(cluster, name) for name in (*names, "fenced_brokers")] == [0, 0, 0, 0]
    offsets = [scrape(cluster, node)["penstock_metadata_offset"] for node in cluster.nodes]
    assert min(offsets) > 0


@pytest.mark.penstock(nodes=3, metrics=True, settings={"min.insync.replicas": 3})
def test_too_few_replicas(penstock_cluster: Cluster) -> None:
    cluster = penstock_cluster
    cluster.create_topic("all", partitions=4)
    assert total(cluster, "under_min_isr_partitions") == 0
    cluster.kill(next(each for each in cluster.nodes if each != cluster.controller()))
    wait_until(lambda: total(cluster, "under_min_isr_partitions") == 4)
    assert total(cluster, "offline_partitions") == 0
    for node in cluster.running:
        assert 0 <= scrape(cluster, node)["penstock_loop_idle_ratio"] <= 1


def group_rows(cluster: Cluster, name: str, group: str = "g") -> dict[int, list[float]]:
    """By partition of the topic: what the nodes tell, all of them together."""
    found: dict[int, list[float]] = {}
    for node in cluster.running:
        with urlopen(f"http://{cluster.nodes[node].metrics}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if (sample.name, sample.labels.get("group")) == (f"penstock_group_{name}", group):
                    found.setdefault(int(sample.labels["partition"]), []).append(sample.value)
    return found


@pytest.mark.penstock(nodes=3, metrics=True)
def test_lag_of_partitions_that_the_coordinator_has_no_replica_of(
    penstock_cluster: Cluster,
) -> None:
    cluster = penstock_cluster
    cluster.create_topic("apart", partitions=3, replication_factor=1)
    hour_ms = 3_600_000
    now_ms = int(time.time() * 1000)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for partition in range(3):
        for hours in (3, 2, 1):
            at = now_ms - hours * hour_ms
            producer.produce("apart", b"record", partition=partition, timestamp=at)
    assert producer.flush(WAIT_S) == 0
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g"})
    offsets = [TopicPartition("apart", partition, partition + 1) for partition in range(3)]
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()
    assert group_rows(cluster, "lag") == {0: [2], 1: [1], 2: [0]}
    ages = group_rows(cluster, "lag_seconds")
    assert 7200 <= ages[0][0] < 9000 and 3600 <= ages[1][0] < 5400
    assert ages[2] == [0]
    # How far a share group is in each partition, any broker may have to tell.
    with closing(Connection(cluster.bootstrap_servers)) as connection:
        set_group(connection, "s", auto_offset_reset="earliest")

    def judge(message: Message) -> AcknowledgeType:
        is_done = (message.offset() or 0) < (message.partition() or 0)
        return AcknowledgeType.ACCEPT if is_done else AcknowledgeType.RELEASE

    with share_member(cluster.bootstrap_servers, "s", "apart") as member:
        told = {0: [3.0], 1: [2.0], 2: [1.0]}
        wait_until(lambda: member.poll(judge) >= 0 and group_rows(cluster, "lag", "s") == told)
    ages = group_rows(cluster, "lag_seconds", "s")
    assert 10800 <= ages[0][0] < 12600 and 7200 <= ages[1][0] < 9000 and 3600 <= ages[2][0] < 5400
