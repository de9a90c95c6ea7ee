"""Brokers with an authorizer and users, Apache Kafka's and ours, set up alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from penstock.testing.port import HOST, free_port
from tests.authorization.grants import ADMIN, USERS
from tests.authorization.login import PASSWORD
from tests.security.sasl_kit import PLAIN_MODULE, SaslBroker
from tools.apache_kafka import ApacheKafka

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def security_settings(users: Mapping[str, object], listener: str) -> dict[str, str]:
    named = " ".join(f'user_{user}="{PASSWORD}"' for user in (ADMIN, *users))
    return {
        "authorizer.class.name": AUTHORIZER,
        "super.users": f"User:{ADMIN};User:ANONYMOUS",
        "sasl.enabled.mechanisms": "PLAIN",
        "delegation.token.secret.key": "a-secret",
        f"listener.name.{listener.lower()}.plain.sasl.jaas.config": (
            f"{PLAIN_MODULE} required {named};"
        ),
    }


@contextmanager
def apache_kafka(home: Path) -> Iterator[str]:
    """Brokers speak to each other, and to the controller, on listeners of their own."""
    port, inside, controller = free_port(), free_port(), free_port()
    listeners = f"CLIENTS://{HOST}:{port},INSIDE://{HOST}:{inside},CONTROLLER://{HOST}:{controller}"
    settings = {
        **security_settings(USERS, "CLIENTS"),
        "listeners": listeners,
        "advertised.listeners": listeners,
        "controller.quorum.bootstrap.servers": f"{HOST}:{controller}",
        "inter.broker.listener.name": "INSIDE",
        "listener.security.protocol.map": (
            "CLIENTS:SASL_PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.num.partitions": "1",
    }
    broker = ApacheKafka(home / "kafka", settings, port=inside)
    with broker:
        yield f"{HOST}:{port}"


@contextmanager
def penstock(home: Path, users: Mapping[str, object] = USERS) -> Iterator[SaslBroker]:
    """Its listener in plain text is for whoever sets it up: an anonymous super user."""
    settings = {
        **security_settings(users, "SASL_PLAINTEXT"),
        "num.partitions": "1",
        "penstock.sasl.plain.unencrypted.listeners": "SASL_PLAINTEXT",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.num.partitions": "1",
    }
    with SaslBroker(home, settings) as broker:
        assert isinstance(broker, SaslBroker)
        yield broker
