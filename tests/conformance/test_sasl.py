"""Real clients log in, by each mechanism, and are told when they may not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError as AioError
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient

from tests.conformance.clients.kafka_python import KafkaConsumer, KafkaProducer
from tests.patience import wait_until
from tests.security.sasl_kit import (
    ALICE,
    BOB,
    SaslAddress,
    SaslBroker,
    sasl_broker,
    sasl_kafka,
    set_password,
)
from tests.security.secured_kafka import SecuredKafka, kind_of_broker
from tools import apache_kafka
from tools.tool_host import shared_tool_host

LOGINS = {"SCRAM-SHA-256": ALICE, "SCRAM-SHA-512": ALICE, "PLAIN": BOB}
PATIENCE_S = 60.0
TOPIC = "letters"


@pytest.fixture(scope="module")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SaslBroker | SaslAddress]:
    make = sasl_kafka if kind_of_broker(request.config) is SecuredKafka else sasl_broker
    with make(tmp_path_factory.mktemp("sasl")) as running:
        yield running


Settings = tuple[str, str, str]
"""Mechanism, name and password."""


def by_confluent(broker: SaslAddress, login: Settings, value: bytes) -> list[bytes]:
    settings = broker.client(*login)
    producer = Producer(settings)
    producer.produce(TOPIC, value)
    assert producer.flush(PATIENCE_S) == 0
    consumer = Consumer(settings | {"group.id": "c" + login[0], "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([TOPIC])
        found: list[bytes] = []
        while value not in found:
            message = consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None
            found.append(message.value())
        return found
    finally:
        consumer.close()


def words(broker: SaslAddress, login: Settings) -> dict[str, Any]:
    """Of the clients in Python."""
    return {
        "bootstrap_servers": broker.secured,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": login[0],
        "sasl_plain_username": login[1],
        "sasl_plain_password": login[2],
    }


def by_kafka_python(broker: SaslAddress, login: Settings, value: bytes) -> list[bytes]:
    producer = KafkaProducer(**words(broker, login))
    try:
        producer.send(TOPIC, value).get(PATIENCE_S)
    finally:
        producer.close()
    consumer = KafkaConsumer(
        TOPIC,
        **words(broker, login),
        auto_offset_reset="earliest",
        consumer_timeout_ms=int(PATIENCE_S * 1000),
    )
    try:
        found = []
        for message in consumer:
            found.append(message.value)
            if message.value == value:
                break
        return found
    finally:
        consumer.close()


def by_aiokafka(broker: SaslAddress, login: Settings, value: bytes) -> list[bytes]:
    async def run() -> list[bytes]:
        producer = AIOKafkaProducer(**words(broker, login))
        try:
            await producer.start()
            await producer.send_and_wait(TOPIC, value)
        finally:
            await producer.stop()
        consumer = AIOKafkaConsumer(TOPIC, **words(broker, login), auto_offset_reset="earliest")
        await consumer.start()
        try:
            found = []
            while value not in found:
                message = await asyncio.wait_for(consumer.getone(), PATIENCE_S)
                found.append(message.value)
            return found
        finally:
            await consumer.stop()

    return asyncio.run(run())


CLIENTS: dict[str, Callable[[SaslAddress, Settings, bytes], list[bytes]]] = {
    "confluent-kafka": by_confluent,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
}


@pytest.mark.parametrize("mechanism", LOGINS)
@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_logs_in(broker: SaslAddress, name: str, mechanism: str) -> None:
    value = f"{name} by {mechanism}".encode()
    assert value in CLIENTS[name](broker, (mechanism, *LOGINS[mechanism]), value)


@pytest.mark.parametrize("mechanism", LOGINS)
def test_a_wrong_password_is_told(broker: SaslAddress, mechanism: str) -> None:
    login = (mechanism, LOGINS[mechanism][0], "wrong")
    told: list[KafkaError] = []
    admin = AdminClient(broker.client(*login) | {"error_cb": told.append})
    wait_until(lambda: bool(admin.poll(0.05) or told), patience_s=PATIENCE_S)
    assert told[0].code() == KafkaError._AUTHENTICATION

    async def run() -> None:
        producer = AIOKafkaProducer(**words(broker, login))
        try:
            await producer.start()
        finally:
            await producer.stop()

    with pytest.raises(AioError):
        asyncio.run(run())


def test_a_password_changes_while_producers_run(broker: SaslAddress) -> None:
    """Nobody who is logged in is dropped; new logins take the new password."""
    set_password(broker.open, "carol", "before")
    before = ("SCRAM-SHA-256", "carol", "before")
    failures: list[object] = []
    producer = Producer(
        broker.client(*before) | {"error_cb": failures.append, "enable.idempotence": True}
    )
    done = threading.Event()

    def run() -> None:
        while not done.wait(0.01):
            producer.produce(TOPIC, b"on", on_delivery=on_delivery)
            producer.poll(0)

    delivered = 0

    def on_delivery(error: KafkaError | None, _: object) -> None:
        nonlocal delivered
        delivered += error is None
        if error is not None:
            failures.append(error)

    running = threading.Thread(target=run)
    running.start()
    try:
        wait_until(lambda: delivered > 5, patience_s=PATIENCE_S)
        set_password(broker.open, "carol", "after")
        at_change = delivered
        assert by_confluent(broker, ("SCRAM-SHA-256", "carol", "after"), b"changed")
        wait_until(lambda: delivered > at_change + 5, patience_s=PATIENCE_S)
    finally:
        done.set()
        running.join()
    assert producer.flush(PATIENCE_S) == 0
    assert failures == []


@pytest.mark.java
def test_tools_of_java_log_in_and_make_users(broker: SaslAddress, tmp_path: Path) -> None:
    if (reason := apache_kafka.missing_prerequisite()) is not None:
        pytest.skip(reason)
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"

    def tool(name: str, *args: str, user: tuple[str, str] = ALICE) -> str:
        file = tmp_path / f"{user[0]}.properties"
        file.write_text(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
            f'sasl.jaas.config={module} required username="{user[0]}" password="{user[1]}";\n'
        )
        address = ("--bootstrap-server", broker.secured, "--command-config", str(file))
        done = shared_tool_host().run(name, [*address, *args])
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    dave = ("--entity-type", "users", "--entity-name", "dave")
    added = "SCRAM-SHA-512=[iterations=8192,password=of-dave]"
    tool("kafka-configs", "--alter", *dave, "--add-config", added)
    assert "SCRAM-SHA-512=iterations=8192" in tool("kafka-configs", "--describe", *dave)
    topics = tool("kafka-topics", "--list", user=("dave", "of-dave"))
    assert TOPIC in topics or "__" not in topics
