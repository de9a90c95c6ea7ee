"""Real clients over TLS, with a certificate and without: produce, consume, large and small."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from penstock.testing.broker import Broker
from tests.patience import wait_until
from tests.security.secured_kafka import kind_of_broker
from tests.security.tls_kit import Keys, servers_of, tls_broker

LARGE = bytes(range(256)) * 3000
VALUES = [b"small", LARGE, b"", *(b"%d" % number for number in range(500))]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, keys: Keys
) -> Iterator[Broker]:
    kind = kind_of_broker(request.config)
    folder = tmp_path_factory.mktemp("broker")
    with tls_broker(folder, keys, {"num.partitions": 1}, kind) as running:
        yield running


@pytest.mark.parametrize("listener", ["SSL", "MUTUAL"])
def test_librdkafka(broker: Broker, keys: Keys, listener: str) -> None:
    pair = keys.client if listener == "MUTUAL" else None
    settings = keys.librdkafka(pair) | {"bootstrap.servers": servers_of(broker, listener)}
    topic = f"librdkafka-{listener}"
    broker.produce(topic, VALUES, settings=settings, timeout_s=60)
    read = broker.read(topic, count=len(VALUES), settings=settings, timeout_s=60)
    assert [record.value for record in read] == VALUES


def words(broker: Broker, keys: Keys, listener: str) -> dict[str, Any]:
    """Of the clients in Python: with a certificate, or with a login over TLS."""
    settings = {"bootstrap_servers": servers_of(broker, listener)}
    if listener == "MUTUAL":
        context = keys.context(keys.client)
        return settings | {"security_protocol": "SSL", "ssl_context": context}
    return settings | {
        "security_protocol": "SASL_SSL",
        "ssl_context": keys.context(),
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "hush",
    }


@pytest.mark.filterwarnings("ignore:read_text is deprecated")
@pytest.mark.filterwarnings("ignore:open_text is deprecated")
@pytest.mark.parametrize("listener", ["MUTUAL", "LOGIN"])
def test_kafka_python(broker: Broker, keys: Keys, listener: str) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    topic, settings = f"kafka-python-{listener}", words(broker, keys, listener)
    producer = KafkaProducer(**settings)
    try:
        for value in VALUES:
            producer.send(topic, value)
        producer.flush(60)
    finally:
        producer.close()
    consumer = KafkaConsumer(
        topic, auto_offset_reset="earliest", consumer_timeout_ms=60_000, **settings
    )
    try:
        read = [record.value for _, record in zip(VALUES, consumer, strict=False)]
    finally:
        consumer.close()
    assert read == VALUES


@pytest.mark.parametrize("password", ["hush", "wrong"])
def test_a_login_over_tls(broker: Broker, keys: Keys, password: str) -> None:
    login = {
        "security.protocol": "sasl_ssl",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "alice",
        "sasl.password": password,
        "log_level": "0",
    }
    settings = keys.librdkafka() | login | {"bootstrap.servers": servers_of(broker, "LOGIN")}
    if password == "wrong":
        refused: list[str] = []
        admin = AdminClient(settings | {"error_cb": lambda error: refused.append(error.str())})
        wait_until(lambda: bool(admin.poll(0.1)) or bool(refused), "let in, or not a word")
        assert "Authentication failed" in refused[0]
        return
    broker.produce("login", VALUES, settings=settings, timeout_s=60)
    read = broker.read("login", count=len(VALUES), settings=settings, timeout_s=60)
    assert [record.value for record in read] == VALUES


@pytest.mark.parametrize("listener", ["MUTUAL", "LOGIN"])
def test_aiokafka(broker: Broker, keys: Keys, listener: str) -> None:
    topic, settings = f"aiokafka-{listener}", words(broker, keys, listener)
    assert asyncio.run(_through_aiokafka(topic, settings)) == VALUES


async def _through_aiokafka(topic: str, settings: dict[str, Any]) -> list[bytes]:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async with AIOKafkaProducer(**settings) as producer:
        for value in VALUES:
            await producer.send(topic, value)
        await producer.flush()
    async with AIOKafkaConsumer(topic, auto_offset_reset="earliest", **settings) as consumer:
        return [(await asyncio.wait_for(consumer.getone(), 60)).value for _ in VALUES]
