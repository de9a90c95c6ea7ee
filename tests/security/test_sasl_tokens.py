"""Logins with tokens on a real node, and sessions that end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from confluent_kafka import Producer

from penstock.model.error import ErrorCode
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.security.plain import plain_token
from penstock.security.scram_client import ScramClient
from tests.conformance.clients.kafka_python import KafkaProducer
from tests.security.sasl_kit import ALICE, BOB, SaslBroker, SaslWire, is_served, sasl_broker
from tests.security.token_kit import (
    AUDIENCE,
    ISSUER,
    first_message,
    token,
    write_key_set,
)
from tests.unit.security.test_oauth_bearer import BAD
from tools.apache_kafka import run_tool

METADATA = MetadataRequest(topics=None)
PATIENCE_S = 60.0
REAUTH_MS = 1500


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SaslBroker]:
    folder = tmp_path_factory.mktemp("tokens")
    keys = folder / "jwks.json"
    write_key_set(keys)
    settings = {
        "sasl.enabled.mechanisms": "OAUTHBEARER,SCRAM-SHA-256,PLAIN",
        "sasl.oauthbearer.jwks.endpoint.url": f"file://{keys}",
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "connection.failed.authentication.delay.ms": 1,
        "listener.name.sasl_plaintext.scram-sha-256.connections.max.reauth.ms": REAUTH_MS,
    }
    with sasl_broker(folder, settings) as running:
        yield running


@pytest.fixture
def wire(broker: SaslBroker) -> Iterator[SaslWire]:
    with SaslWire(broker.secured) as wire:
        yield wire


def test_confluent_kafka(broker: SaslBroker) -> None:
    def give(_: str) -> tuple[str, float]:
        return token(), time.time() + 600

    settings = broker.client("OAUTHBEARER", "", "") | {"oauth_cb": give}
    producer = Producer({k: v for k, v in settings.items() if v != ""})
    producer.produce("t", b"x")
    assert producer.flush(PATIENCE_S) == 0


class Provider(AbstractTokenProvider):  # type: ignore[misc]
    async def token(self) -> str:
        return token()


def test_aiokafka(broker: SaslBroker) -> None:
    async def run() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.secured,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            sasl_oauth_token_provider=Provider(),
        )
        try:
            await producer.start()
            await producer.send_and_wait("t", b"y")
        finally:
            await producer.stop()

    asyncio.run(run())


def test_kafka_python(broker: SaslBroker) -> None:
    from kafka.net.sasl.oauth import AbstractTokenProvider as PythonProvider

    class Given(PythonProvider):  # type: ignore[misc]
        def token(self) -> str:
            return token()

    producer = KafkaProducer(
        bootstrap_servers=broker.secured,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_oauth_token_provider=Given(),
    )
    try:
        producer.send("t", b"z").get(PATIENCE_S)
    finally:
        producer.close()


OAUTH = "org.apache.kafka.common.security.oauthbearer"


@pytest.mark.java
def test_javas_client(broker: SaslBroker, tmp_path: Path) -> None:
    """With Kafka's own handler, which reads the token from a file that the JVM is told to allow."""
    given, settings = tmp_path / "token.jwt", tmp_path / "client.properties"
    given.write_text(token())
    settings.write_text(
        "security.protocol=SASL_PLAINTEXT\n"
        "sasl.mechanism=OAUTHBEARER\n"
        f"sasl.jaas.config={OAUTH}.OAuthBearerLoginModule required;\n"
        f"sasl.login.callback.handler.class={OAUTH}.OAuthBearerLoginCallbackHandler\n"
        f"sasl.oauthbearer.token.endpoint.url=file://{given}\n"
    )
    allowed = [
        f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://{given}",
        f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.files={given}",
    ]
    words = ("--bootstrap-server", broker.secured, "--command-config", str(settings))
    made = run_tool("kafka-topics", [*words, "--create", "--topic", "java"], jvm=allowed)
    assert (made.returncode, made.stdout.strip()) == (0, "Created topic java."), made.stderr


@pytest.mark.parametrize("what", BAD)
def test_a_token_that_is_not_good(wire: SaslWire, broker: SaslBroker, what: str) -> None:
    wire.handshake("OAUTHBEARER")
    told = wire.token(first_message(BAD[what]()))
    assert (told.error_code, told.auth_bytes) == (0, b'{"status":"invalid_token"}')
    end = wire.token(b"\x01")
    assert end.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert wire.is_closed()
    assert "token refused" in broker.log


def test_a_token_that_is_replayed_lasts_no_longer(broker: SaslBroker) -> None:
    """Who has overheard it has what its owner has. Once it has ended, clocks that differ let it
    pass, and nothing is served."""
    ended = first_message(token(lasts_s=-5))
    for _ in range(2):
        with SaslWire(broker.secured) as wire:
            wire.handshake("OAUTHBEARER")
            assert wire.token(ended).error_code == 0
            assert not is_served(wire, METADATA, 12)


def test_a_session_ends_with_its_token(wire: SaslWire) -> None:
    wire.handshake("OAUTHBEARER")
    told = wire.token(first_message(token(lasts_s=2)))
    assert told.error_code == 0
    assert 0 < told.session_lifetime_ms <= 2000
    assert is_served(wire, METADATA, 12)
    deadline = time.monotonic() + PATIENCE_S
    while is_served(wire, METADATA, 12):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_client_logs_in_again_on_the_same_connection(wire: SaslWire) -> None:
    told = wire.login_scram("SCRAM-SHA-256", *ALICE)
    assert told.session_lifetime_ms == REAUTH_MS
    started = time.monotonic()
    while time.monotonic() - started < 2.5 * REAUTH_MS / 1000:
        assert is_served(wire, METADATA, 12)
        time.sleep(1.1)
        assert wire.login_scram("SCRAM-SHA-256", *ALICE).error_code == 0


def test_nobody_becomes_another_on_the_way(broker: SaslBroker) -> None:
    with SaslWire(broker.secured) as wire:
        wire.login_scram("SCRAM-SHA-256", *ALICE)
        assert wire.handshake("PLAIN").error_code == 0
        assert not is_served(wire, SaslAuthenticateRequest(auth_bytes=plain_token(*BOB)), 2)
    with SaslWire(broker.secured) as wire:
        wire.login_scram("SCRAM-SHA-256", *ALICE)
        client = ScramClient("SCRAM-SHA-256", "bob", "x", lambda: "abc")
        wire.handshake("SCRAM-SHA-256")
        wire.token(client.first())
        assert not is_served(wire, METADATA, 12), "in the middle of it nothing else is served"


def test_a_session_without_an_end_takes_no_second_login(wire: SaslWire) -> None:
    wire.handshake("PLAIN")
    assert wire.token(plain_token(*BOB)).session_lifetime_ms == 0
    assert wire.handshake("PLAIN").error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert is_served(wire, METADATA, 12)
