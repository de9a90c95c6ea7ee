"""The past of real nodes: what they did is in their topic, whatever becomes of them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from penstock.model.figures import HOURS, MINUTES, Figures, GroupFigures, decode_figures
from penstock.model.internal_topic import METRICS_TOPIC
from penstock.testing.broker import Broker
from penstock.testing.cluster import Cluster
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.share import set_group, share_member
from tests.patience import wait_until
from tests.unit.cli.conftest import PENSTOCK

SETTINGS = {
    "penstock.metrics.topic.enable": True,
    "penstock.metrics.topic.interval.ms": 1000,
    "group.initial.rebalance.delay.ms": 0,
}


def figures(servers: str, partition: int = MINUTES) -> list[Figures]:
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "-", "enable.auto.commit": False}
    )
    place = TopicPartition(METRICS_TOPIC, partition, 0)
    found: list[Figures] = []
    try:
        _, end = consumer.get_watermark_offsets(place, timeout=10)
        consumer.assign([place])
        while len(found) < end:
            for each in consumer.consume(100, 1):
                decoded = decode_figures(each.value())
                assert decoded is not None
                assert each.key() == str(decoded.broker).encode()
                found.append(decoded)
    except KafkaException:
        return []
    finally:
        consumer.close()
    return found


def write(servers: str, topic: str, count: int, client: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "client.id": client, "linger.ms": 0})
    for _ in range(count):
        producer.produce(topic, b"x" * 100, partition=0)
    assert producer.flush(30) == 0


def commit(servers: str, group: str, topic: str, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def test_what_a_node_did_is_on_record(penstock_factory: Callable[..., Broker]) -> None:
    broker = penstock_factory(SETTINGS)
    servers = broker.bootstrap_servers
    broker.create_topic("orders")
    write(servers, "orders", 50, "shop")
    commit(servers, "billing", "orders", 10)

    def rows(group: str) -> list[GroupFigures]:
        return [g for f in figures(servers) for g in f.groups if g.group == group]

    def read() -> int:
        return sum(each.consumed or 0 for each in rows("billing"))

    wait_until(lambda: rows("billing"))
    commit(servers, "billing", "orders", 30)
    wait_until(lambda: read() == 20)
    with closing(Connection(servers)) as connection:
        set_group(connection, "sharing", auto_offset_reset="earliest")
    with share_member(servers, "sharing", "orders") as member:
        wait_until(lambda: member.poll() >= 0 and len(member.seen) == 50)
        write(servers, "orders", 7, "shop")
        wait_until(lambda: (7, 1) in [(row.lag, row.members) for row in rows("sharing")])
        wait_until(lambda: member.poll() >= 0 and len(member.seen) == 57)
        wait_until(lambda: [row.consumed for row in rows("sharing")][-1:] == [7])
    kept = figures(servers)
    assert sum(t.records_in for f in kept for t in f.topics if t.topic == "orders") == 57
    sent = sum(c.bytes_in for f in kept for c in f.clients if c.client_id == "shop")
    assert sent == sum(t.bytes_in for f in kept for t in f.topics if t.topic == "orders") > 5000
    (*_, last) = [g for f in kept for g in f.groups if g.group == "billing"]
    assert (last.lag, last.members) == (27, 0)
    assert sum(f.requests for f in kept) > 0
    assert sum(f.flushes for f in kept) > 0
    assert all(f.disks[0].total_bytes > f.disks[0].used_bytes > 0 for f in kept)
    assert all(0 <= f.idle <= 1 and f.from_ms < f.until_ms for f in kept)
    # Nothing is missing between two of them.
    assert all(a.until_ms == b.from_ms for a, b in pairwise(kept))

    broker.kill()
    killed_ms = time.time() * 1000
    broker.start()
    assert figures(servers)[: len(kept)] == kept
    wait_until(lambda: any(each.flushes for each in figures(servers)[len(kept) :]))
    broker.stop()
    broker.start()
    # An hour of the clock may have ended on the way, and then has a record of its own.
    hours = figures(servers, HOURS)
    since_the_kill = [hour for hour in hours if hour.from_ms >= kept[-1].until_ms]
    assert sum(hour.flushes for hour in since_the_kill) > 0
    assert all(hour.until_ms <= killed_ms for hour in hours if hour not in since_the_kill)


def test_one_setting_turns_it_on_and_off_while_it_runs(
    penstock_factory: Callable[..., Broker],
) -> None:
    broker = penstock_factory({"penstock.metrics.topic.interval.ms": 1000})
    servers = broker.bootstrap_servers

    def turn(value: str) -> None:
        change = ("configs", "set", "broker", "all", f"penstock.metrics.topic.enable={value}")
        subprocess.run([PENSTOCK, "-b", servers, *change], check=True, capture_output=True)

    time.sleep(1.5)
    assert figures(servers) == []
    turn("true")
    wait_until(lambda: figures(servers))
    turn("false")
    count = len(figures(servers))
    time.sleep(2.5)
    assert len(figures(servers)) <= count + 1


def test_clients_do_not_write_it(penstock_factory: Callable[..., Broker]) -> None:
    broker = penstock_factory(SETTINGS)
    wait_until(lambda: figures(broker.bootstrap_servers))
    failed = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(METRICS_TOPIC, b"forged", on_delivery=lambda error, _: failed.append(error))
    producer.flush(30)
    assert failed[0] is not None


@pytest.mark.penstock(settings=SETTINGS)
def test_every_node_of_a_cluster_writes_its_own(penstock_cluster: Cluster) -> None:
    servers = penstock_cluster.bootstrap_servers
    wait_until(lambda: {each.broker for each in figures(servers)} == {1, 2, 3})
