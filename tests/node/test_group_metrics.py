"""How far groups are behind, as the broker tells whoever scrapes it: real clients, real times."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import AcknowledgeType, Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.model.sla import SLA_TOPIC, SlaKey, encode_limit
from penstock.node.address import Address
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.share import set_group, share_member
from tests.node.node_kit import RunningNode, running
from tests.node.test_node_metrics import Samples, scrape, value
from tests.patience import wait_until

MINUTE_MS = 60_000


@pytest.fixture
def node(tmp_path: Path) -> Iterator[RunningNode]:
    with running(tmp_path / "data", metrics=Address("127.0.0.1", 0)) as started:
        admin = AdminClient({"bootstrap.servers": str(started.address)})
        topics = [NewTopic("orders", 2), NewTopic(SLA_TOPIC, 1)]
        for made in admin.create_topics(topics).values():
            made.result(30)
        yield started


def write(node: RunningNode, partition: int, ages_ms: list[int], **settings: object) -> None:
    """One batch of records of these ages."""
    now_ms = int(time.time() * 1000)
    own = {"bootstrap.servers": str(node.address), "linger.ms": 200}
    producer = Producer(own | settings)
    for age_ms in ages_ms:
        producer.produce("orders", b"." * 100, partition=partition, timestamp=now_ms - age_ms)
    assert producer.flush(30) == 0


def commit(node: RunningNode, group: str, offsets: dict[int, int]) -> None:
    """As tools do, without a member."""
    own = {"bootstrap.servers": str(node.address), "group.id": group}
    consumer = Consumer(own)
    places = [TopicPartition("orders", *each) for each in offsets.items()]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


def of_partition(samples: Samples, name: str, partition: int, group: str = "billing") -> float:
    labels = {"group": group, "topic": "orders", "partition": str(partition)}
    return value(samples, f"penstock_group_{name}", **labels)


def of_group(samples: Samples, name: str, **labels: str) -> float:
    return value(samples, f"penstock_group_{name}", **({"group": "billing"} | labels))


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_lag_is_the_age_of_the_oldest_record_not_consumed(node: RunningNode, codec: str) -> None:
    write(node, 0, [30 * MINUTE_MS, 20 * MINUTE_MS, 10 * MINUTE_MS], **{"compression.type": codec})
    write(node, 1, [5 * MINUTE_MS])
    commit(node, "billing", {0: 1, 1: 1})
    first = scrape(node)
    assert of_partition(first, "committed_offset", 0) == 1
    assert of_partition(first, "lag", 0) == 2 and of_partition(first, "lag", 1) == 0
    assert 1200 <= of_partition(first, "lag_seconds", 0) < 1500
    assert of_partition(first, "lag_seconds", 1) == 0
    assert of_group(first, "lag_sum") == 2 == of_group(first, "lag_max")
    # Nobody consumes: it goes on growing.
    again = scrape(node)
    assert of_partition(again, "lag_seconds", 0) > of_partition(first, "lag_seconds", 0)
    worst = of_partition(again, "lag_seconds", 0)
    assert of_group(again, "lag_seconds_max") == worst
    commit(node, "billing", {0: 2})
    assert 600 <= of_partition(scrape(node), "lag_seconds", 0) < 900
    write(node, 1, [2 * MINUTE_MS])
    later = scrape(node)
    assert of_partition(later, "lag", 1) == 1
    assert 120 <= of_partition(later, "lag_seconds", 1) < 600
    commit(node, "billing", {0: 3, 1: 2})
    done = scrape(node)
    assert of_group(done, "lag_sum") == 0 == of_group(done, "lag_seconds_max")
    assert of_group(done, "commits_total") - of_group(first, "commits_total") == 3


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_state_and_commits_of_a_group(node: RunningNode, protocol: str) -> None:
    write(node, 0, [0, 0, 0, 0])
    consumer = Consumer(
        {
            "bootstrap.servers": str(node.address),
            "group.id": "billing",
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["orders"])
    assert len(consumer.consume(4, 60)) == 4
    consumer.commit(asynchronous=False)
    scrape(node)
    write(node, 0, [0])
    assert len(consumer.consume(1, 60)) == 1
    before_ms = int(time.time() * 1000)
    consumer.commit(asynchronous=False)
    samples = scrape(node)
    assert of_group(samples, "members") == 1
    assert of_group(samples, "info", state="Stable", protocol=protocol) == 1
    assert of_group(samples, "rebalances_total") >= 1
    assert of_group(samples, "commits_total") == 1
    assert of_group(samples, "last_commit_timestamp_seconds") * 1000 >= before_ms
    assert of_partition(samples, "commit_timestamp_seconds", 0) * 1000 >= before_ms
    assert of_partition(samples, "lag", 0) == 0
    consumer.close()
    samples = scrape(node)
    assert of_group(samples, "members") == 0
    assert of_group(samples, "info", state="Empty", protocol=protocol) == 1
    write(node, 0, [0])
    assert of_partition(scrape(node), "lag", 0) == 1


def test_markers_of_transactions_are_no_records_to_wait_for(node: RunningNode) -> None:
    producer = Producer({"bootstrap.servers": str(node.address), "transactional.id": "t"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("orders", b"one", partition=0, timestamp=1_600_000_000_000)
    producer.commit_transaction(30)
    commit(node, "billing", {0: 1})
    samples = scrape(node)
    # Kafka's tools count the marker as well.
    assert of_partition(samples, "lag", 0) == 1
    assert of_partition(samples, "lag_seconds", 0) == 0


def test_seconds_over_the_limit(node: RunningNode) -> None:
    write(node, 0, [10 * MINUTE_MS])
    for group in ("billing", "audit"):
        commit(node, group, {0: 0})
    assert of_group(scrape(node), "sla_seconds", topic="orders") == 0
    producer = Producer({"bootstrap.servers": str(node.address)})
    for key, seconds in ((SlaKey("topic", "orders"), 3600), (SlaKey("group", "billing"), 60)):
        producer.produce(SLA_TOPIC, encode_limit(seconds), key.encode())
    producer.produce(SLA_TOPIC, b"not ours", b"group:billing")
    assert producer.flush(30) == 0
    samples = scrape(node)
    assert of_group(samples, "sla_seconds", topic="orders") == 60
    assert 540 <= of_group(samples, "sla_over_seconds", topic="orders") < 900
    assert of_group(samples, "sla_seconds", group="audit", topic="orders") == 3600
    assert of_group(samples, "sla_over_seconds", group="audit", topic="orders") == 0
    producer.produce(SLA_TOPIC, None, SlaKey("group", "billing").encode())
    assert producer.flush(30) == 0
    assert of_group(scrape(node), "sla_seconds", topic="orders") == 3600


def test_groups_and_offsets_that_are_gone_are_told_no_longer(node: RunningNode) -> None:
    write(node, 0, [0])
    commit(node, 'odd "name"\\', {0: 0})
    commit(node, "billing", {0: 0, 1: 0})
    first = scrape(node)
    assert of_partition(first, "lag", 0, 'odd "name"\\') == 1
    admin = AdminClient({"bootstrap.servers": str(node.address)})
    admin.delete_consumer_groups(['odd "name"\\'])['odd "name"\\'].result(30)
    names = {dict(labels).get("group") for _, labels in scrape(node)}
    assert "billing" in names and 'odd "name"\\' not in names


def test_a_share_group_from_its_first_record_that_is_not_done_with(node: RunningNode) -> None:
    servers = str(node.address)
    with closing(Connection(servers)) as connection:
        set_group(connection, "billing", auto_offset_reset="earliest")
    write(node, 0, [30 * MINUTE_MS, 20 * MINUTE_MS, 10 * MINUTE_MS])

    def judge(message: Message) -> AcknowledgeType:
        """All but the second: it stays the first that is not done with."""
        return AcknowledgeType.RELEASE if message.offset() == 1 else AcknowledgeType.ACCEPT

    with share_member(servers, "billing", "orders") as member:
        wait_until(
            lambda: (
                member.poll(judge) >= 0
                and of_partition(scrape(node), "committed_offset", 0) == 1
                and of_partition(scrape(node), "lag", 0) == 1
            )
        )
        samples = scrape(node)
        assert 1200 <= of_partition(samples, "lag_seconds", 0) < 1500
        assert of_group(samples, "members") == 1
        assert of_group(samples, "info", state="Stable", protocol="share") == 1
        assert of_group(samples, "rebalances_total") >= 1
        assert of_group(samples, "lag_seconds_max") == of_partition(samples, "lag_seconds", 0)
        assert not [name for name, _ in samples if "commit_timestamp" in name]
    write(node, 0, [0, 0])
    samples = scrape(node)
    assert of_group(samples, "members") == 0
    assert of_group(samples, "info", state="Empty", protocol="share") == 1
    # Nobody is asked any more, and what is written counts all the same.
    assert of_partition(samples, "lag", 0) == 3 == of_group(samples, "lag_sum")
    with share_member(servers, "billing", "orders") as member:
        wait_until(lambda: member.poll() >= 0 and of_group(scrape(node), "lag_sum") == 0)
        assert of_group(scrape(node), "lag_seconds_max") == 0
        assert of_partition(scrape(node), "committed_offset", 0) == 5
    admin = AdminClient({"bootstrap.servers": servers})
    admin.delete_consumer_groups(["billing"])["billing"].result(30)
    assert "billing" not in {dict(labels).get("group") for _, labels in scrape(node)}
