"""Which places in a cluster Apache Kafka starts in, and which are taken here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from penstock.node.cluster_config import cluster_config
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from tests.unit.node.test_cluster_config import BROKER, CONTROLLER, SERVER
from tests.unit.settings.kafka_settings import KafkaSettings

pytestmark = pytest.mark.java

LISTENERS = "listeners"
ADVERTISED = "advertised.listeners"
NAMES = "controller.listener.names"
MAP = "listener.security.protocol.map"
VOTERS = "controller.quorum.voters"
SERVERS = "controller.quorum.bootstrap.servers"
INTER = "inter.broker.listener.name"
ROLES = "process.roles"
ABSENT = ""

CHANGES: tuple[dict[str, str], ...] = (
    {},
    {LISTENERS: "PLAINTEXT://:9092"},
    {LISTENERS: "CONTROLLER://:9093"},
    {LISTENERS: "PLAINTEXT://:9092,CONTROLLER://:9093"},
    {LISTENERS: "PLAINTEXT://127.0.0.1:9092,CONTROLLER://[::1]:9092"},
    {LISTENERS: "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.2:9092"},
    {LISTENERS: "PLAINTEXT://:9092,OTHER://:9094,CONTROLLER://:9093"},
    {LISTENERS: "CONTROLLER://:9093,CONTROLLER://:9094"},
    {ADVERTISED: "PLAINTEXT://h:1"},
    {ADVERTISED: "CONTROLLER://h:1"},
    {ADVERTISED: "PLAINTEXT://h:1,CONTROLLER://h:1"},
    {ADVERTISED: "PLAINTEXT://h:1,CONTROLLER://0.0.0.0:1"},
    {ADVERTISED: "OTHER://h:1"},
    {ADVERTISED: ABSENT},
    {MAP: "PLAINTEXT:PLAINTEXT"},
    {MAP: "CONTROLLER:PLAINTEXT"},
    {MAP: "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"},
    {MAP: ABSENT},
    {NAMES: ABSENT},
    {NAMES: "CONTROLLER,SECOND"},
    {NAMES: "PLAINTEXT"},
    {VOTERS: "1@h:9093"},
    {VOTERS: "2@h:9093"},
    {VOTERS: "1@h:9093,2@h:9093"},
    {VOTERS: "1@h:99999"},
    {VOTERS: "x@h:9093"},
    {VOTERS: "1@h:9093", SERVERS: ABSENT},
    {SERVERS: "a:1,b:2"},
    {SERVERS: "a"},
    {INTER: ABSENT},
    {INTER: "CONTROLLER"},
    {INTER: "OTHER"},
    {INTER: "PLAINTEXT", "security.inter.broker.protocol": "PLAINTEXT"},
    {"controller.quorum.auto.join.enable": "true"},
    {"early.start.listeners": "CONTROLLER"},
    {"early.start.listeners": "PLAINTEXT"},
    {"early.start.listeners": "OTHER"},
    {"node.id": ABSENT},
    {"log.dirs": "/a,/b", "metadata.log.dir": "/c"},
    {ROLES: "broker"},
    {ROLES: "controller"},
    {ROLES: "broker,controller"},
    {ROLES: "observer"},
)


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkaSettings]:
    with closing(KafkaSettings()) as running:
        yield running


def refusal(settings: dict[str, str]) -> str | None:
    try:
        cluster_config(BrokerConfig.load(None, [f"{k}={v}" for k, v in settings.items()]))
    except SettingError as error:
        return str(error)
    return None


@pytest.mark.parametrize("base", [SERVER, BROKER, CONTROLLER], ids=["both", "broker", "controller"])
def test_the_same_places_are_taken(kafka: KafkaSettings, base: dict[str, str]) -> None:
    wrong = []
    for change in CHANGES:
        settings = {key: value for key, value in (base | change).items() if value != ABSENT}
        there, here = kafka.complaint_of(settings), refusal(settings)
        if (there is None) != (here is None):
            wrong.append(f"{change}: Kafka says {there}, here {here}")
    assert wrong == []
