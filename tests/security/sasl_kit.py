"""A node on which one has to log in, and logins made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from penstock.protocol.entity import Entity
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest
from penstock.security.mechanism import SCRAM
from penstock.security.scram_client import ScramClient
from penstock.testing.broker import Broker
from penstock.testing.nursery import Order
from penstock.testing.port import HOST, free_port
from tests.node.wire_kit import Wire

ALICE = ("alice", "wonderland")
BOB = ("bob", "builder")
"""Of SCRAM, and of PLAIN."""
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
KINDS = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}

SETTINGS: Mapping[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN",
    "penstock.sasl.plain.unencrypted.listeners": "SASL_PLAINTEXT",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{PLAIN_MODULE} required user_{BOB[0]}="{BOB[1]}" user_eve="other";'
    ),
}
SCRAM_MODULES: Mapping[str, object] = {
    f"listener.name.sasl_plaintext.{mechanism.lower()}.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    )
    for mechanism in KINDS
}
"""Apache Kafka wants to be told."""


class SaslBroker(Broker):
    """Listens twice: with a login, at `secured`, and in plain text, for whoever sets it up."""

    def __init__(self, folder: Path, settings: Mapping[str, object] | None = None) -> None:
        self.secured = f"{HOST}:{free_port()}"
        self.open = f"{HOST}:{free_port()}"
        listeners = f"PLAINTEXT://{self.open},SASL_PLAINTEXT://{self.secured}"
        super().__init__(folder / "data", {"listeners": listeners} | SETTINGS | (settings or {}))

    def _order(self) -> Order:
        return Order(
            data_dir=str(self.data_dir),
            log=str(self.log_file),
            settings=self.settings,
            log_level=self._log_level,
        )

    def client(self, mechanism: str, name: str, password: str) -> dict[str, Any]:
        return SaslAddress(self.open, self.secured).client(mechanism, name, password)


class SaslAddress(NamedTuple):
    """Where a broker listens in plain text, and where with a login."""

    open: str
    secured: str

    def client(self, mechanism: str, name: str, password: str) -> dict[str, Any]:
        """Settings of librdkafka."""
        return {
            "bootstrap.servers": self.secured,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.username": name,
            "sasl.password": password,
            "log_level": 0,
        }


@contextmanager
def sasl_kafka(folder: Path) -> Iterator[SaslAddress]:
    """Apache Kafka, with the same users."""
    from tests.security.secured_kafka import SecuredKafka

    secured = f"{HOST}:{free_port()}"
    settings = {"listeners": f"SASL_PLAINTEXT://{secured}"} | SETTINGS | SCRAM_MODULES
    with SecuredKafka(folder / "data", settings) as kafka:
        set_password(kafka.bootstrap_servers, *ALICE)
        yield SaslAddress(kafka.bootstrap_servers, secured)


@contextmanager
def sasl_broker(folder: Path, settings: Mapping[str, object] | None = None) -> Iterator[SaslBroker]:
    with SaslBroker(folder, settings) as broker:
        assert isinstance(broker, SaslBroker)
        set_password(broker.open, *ALICE)
        yield broker


def set_password(address: str, name: str, password: str) -> None:
    """Of both mechanisms, over a listener that asks for no login."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    for kind in KINDS.values():
        change = UserScramCredentialUpsertion(
            name, ScramCredentialInfo(kind, 4096), password.encode()
        )
        for future in admin.alter_user_scram_credentials([change]).values():
            future.result(20)


class SaslWire(Wire):
    def handshake(self, mechanism: str, version: int = 1) -> Any:
        return self.call(SaslHandshakeRequest(mechanism=mechanism), version)

    def token(self, data: bytes, version: int = 2) -> Any:
        return self.call(SaslAuthenticateRequest(auth_bytes=data), version)

    def login_scram(self, mechanism: str, name: str, password: str, version: int = 2) -> Any:
        """The last answer."""
        assert mechanism in SCRAM
        client = ScramClient(mechanism, name, password, lambda: "0123456789")
        assert self.handshake(mechanism).error_code == 0
        first = self.token(client.first(), version)
        if first.error_code:
            return first
        answer = self.token(client.final(first.auth_bytes), version)
        if not answer.error_code:
            client.check(answer.auth_bytes)
        return answer

    def raw_token(self, data: bytes) -> bytes:
        """Without a header, as behind a handshake of version 0."""
        self.sock.sendall(len(data).to_bytes(4, "big") + data)
        return self.receive_frame()


def is_served(wire: Wire, request: Entity, version: int) -> bool:
    try:
        wire.call(request, version)
    except (ConnectionError, TimeoutError):
        return False
    return True
