"""Dead letters on Apache Kafka: the same commands, the same ledger in its offsets."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from penstock.pipelines.dlq import Choice, tallies
from penstock.pipelines.redrive import Redrive
from tests.unit.cluster_target import bootstrap_servers

_numbers = itertools.count(1)


@pytest.mark.java
@pytest.mark.timeout(300)
def test_letters_go_back_once() -> None:
    from confluent_kafka import Consumer, Producer, TopicPartition
    from confluent_kafka.admin import AdminClient, NewTopic

    client: dict[str, Any] = {"bootstrap.servers": bootstrap_servers("kafka")}
    orders = f"dlq-orders-{next(_numbers)}"
    dead = f"{orders}.dead-letters"
    admin = AdminClient(client)
    for future in admin.create_topics([NewTopic(orders, 1), NewTopic(dead, 1)]).values():
        future.result(30)
    producer = Producer(client)
    for number in range(6):
        said = {"topic": orders, "partition": 0, "offset": number, "error": "AB"[number % 2]}
        headers = [(f"penstock.dlq.{key}", str(value)) for key, value in said.items()]
        producer.produce(dead, f"broken {number}", headers=headers)
    producer.flush(30)
    assert Redrive(client, dead, Choice(error="B"), timeout_s=30).run().sent == 3
    assert Redrive(client, dead, Choice(error="B"), timeout_s=30).run().sent == 0
    assert {one.error: one.waiting for one in tallies(client, dead, 30)} == {"A": 3, "B": 0}
    assert Redrive(client, dead, timeout_s=30).run().sent == 3
    settings = {"group.id": "reader", "isolation.level": "read_committed"}
    consumer = Consumer(client | settings | {"auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(orders, 0, 0)])
    found = [consumer.poll(30).value() for _ in range(6)]
    consumer.close()
    assert found == [f"broken {number}".encode() for number in (1, 3, 5, 0, 2, 4)]
