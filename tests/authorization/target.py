"""Brokers with an authorizer and users, Apache Kafka's and ours, set up alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from penstock.testing.broker import Broker
from penstock.testing.port import HOST, free_port
from tests.authorization.grants import ADMIN, USERS
from tests.authorization.login import PASSWORD
from tools.apache_kafka import ApacheKafka

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def security_settings(users: Mapping[str, object]) -> dict[str, str]:
    named = " ".join(f'user_{user}="{PASSWORD}"' for user in (ADMIN, *users))
    return {
        "authorizer.class.name": AUTHORIZER,
        "super.users": f"User:{ADMIN};User:ANONYMOUS",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.clients.plain.sasl.jaas.config": f"{PLAIN_MODULE} required {named};",
    }


@contextmanager
def apache_kafka(home: Path) -> Iterator[str]:
    """Brokers speak to each other, and to the controller, on listeners of their own."""
    port, inside, controller = free_port(), free_port(), free_port()
    listeners = f"CLIENTS://{HOST}:{port},INSIDE://{HOST}:{inside},CONTROLLER://{HOST}:{controller}"
    settings = {
        **security_settings(USERS),
        "listeners": listeners,
        "advertised.listeners": listeners,
        "controller.quorum.bootstrap.servers": f"{HOST}:{controller}",
        "inter.broker.listener.name": "INSIDE",
        "listener.security.protocol.map": (
            "CLIENTS:SASL_PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
    }
    broker = ApacheKafka(home / "kafka", settings, port=inside)
    with broker:
        yield f"{HOST}:{port}"


@contextmanager
def penstock(home: Path, users: Mapping[str, object] = USERS) -> Iterator[Broker]:
    settings = {
        **security_settings(users),
        "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
    }
    with Broker(home / "penstock", settings) as broker:
        yield broker
