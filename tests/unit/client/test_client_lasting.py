"""Producers that fail for good, for real: the broker is set back, or another takes their place."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock import client
from penstock.client import DeliveryError
from penstock.client.app.output import Output
from penstock.client.app.transaction import FencedError, Sent, Transaction, Transactions
from penstock.client.lasting_producer import LastingProducer
from penstock.testing.broker import Broker
from tests.patience import wait_until
from tests.unit.cluster_target import TARGETS, bootstrap_servers

QUICK: dict[str, Any] = {"reconnect.backoff.max.ms": 100, "linger.ms": 0}


class SetBack:
    """A broker that forgets: its disk is what it was before, as after a restore of a backup."""

    def __init__(self, folder: Path) -> None:
        self._kept = folder / "kept"
        self.broker = Broker(folder / "data")

    def keep(self) -> None:
        self.broker.stop()
        shutil.copytree(self.broker.data_dir, self._kept)
        self.broker.start()

    def set_back(self) -> None:
        self.broker.stop()
        shutil.rmtree(self.broker.data_dir)
        shutil.copytree(self._kept, self.broker.data_dir)
        self.broker.start()


@pytest.fixture
def forgetful(tmp_path: Path) -> Iterator[SetBack]:
    made = SetBack(tmp_path)
    with made.broker:
        made.broker.create_topic("t")
        yield made
    client.close()


def values(broker: Broker) -> list[bytes | None]:
    return [each.value for each in broker.read("t")]


def test_the_shared_producer_has_a_successor(forgetful: SetBack) -> None:
    servers = forgetful.broker.bootstrap_servers

    def send(value: int) -> None:
        client.produce("t", None, value, bootstrap_servers=servers)

    send(1)
    forgetful.keep()
    send(2)
    forgetful.set_back()
    with pytest.raises(DeliveryError, match="sequence"):
        send(3)
    send(4)
    send(5)
    assert values(forgetful.broker) == [b"1", b"4", b"5"]


def test_the_output_of_applications_has_a_successor(forgetful: SetBack) -> None:
    async def run() -> None:
        servers = {"bootstrap.servers": forgetful.broker.bootstrap_servers}
        output = Output(QUICK | servers, asyncio.get_running_loop())
        await output.send("t", None, b"1", [])
        forgetful.keep()
        await output.send("t", None, b"2", [])
        forgetful.set_back()
        failed = await asyncio.gather(
            *(output.send("t", None, b"3", []) for _ in range(20)), return_exceptions=True
        )
        assert {type(each) for each in failed} == {DeliveryError}
        await output.send("t", None, b"4", [])
        await asyncio.to_thread(output.close)

    asyncio.run(asyncio.wait_for(run(), 60))
    assert values(forgetful.broker) == [b"1", b"4"]


def test_all_reports_arrive(forgetful: SetBack) -> None:
    """Also those that are handed out together with the fatal error, and at the end."""
    servers = {"bootstrap.servers": forgetful.broker.bootstrap_servers}
    producer = LastingProducer({**QUICK, **servers, "enable.idempotence": True}, "test")
    reports: list[Any] = []

    def send(count: int) -> None:
        for _ in range(count):
            producer.produce("t", lambda error, _: reports.append(error), value=b"x")

    send(1)
    wait_until(lambda: len(reports) == 1, "the first is acknowledged")
    forgetful.keep()
    send(1)
    wait_until(lambda: len(reports) == 2, "the second is acknowledged")
    forgetful.set_back()
    send(500)
    producer.close(30)
    assert len(reports) == 502
    # Not by `==`: to compare a KafkaError with None leaves an exception pending.
    assert [each is None for each in reports] == [True, True] + [False] * 500


@pytest.mark.parametrize("target", TARGETS)
def test_a_transaction_that_another_took_over(target: str) -> None:
    servers = {"bootstrap.servers": bootstrap_servers(target)}
    name = f"fenced-{uuid.uuid4().hex[:8]}"
    consumer = Consumer({**servers, "group.id": name})
    made = Transaction(
        [Sent(name, None, b"x", []) for _ in range(50)],
        [TopicPartition(name, 0, 1)],
        consumer.consumer_group_metadata(),
        [],
    )
    first = Transactions(dict(servers), name)
    first.run(made)
    other = Producer({**servers, "transactional.id": name})
    other.init_transactions(30)
    with pytest.raises(FencedError):
        first.run(made)
    first.close()
    consumer.close()
