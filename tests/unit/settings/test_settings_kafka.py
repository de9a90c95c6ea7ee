"""The declarations beside Apache Kafka's own, read from its jars: names, types, defaults, checks,
how a setting may change, and which values a node does not start with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from penstock.model.error import PenstockError
from penstock.node.main import settled_options
from penstock.settings.broker import BROKER_KEYS, HIDDEN_KEYS
from penstock.settings.config import BrokerConfig
from penstock.settings.group import GROUP_KEYS
from penstock.settings.key import AT_START, PROMISE, READ_ONLY, Key
from penstock.settings.topic import HIDDEN_TOPIC_KEYS, TOPIC_KEYS
from tests.unit.settings.kafka_settings import NODE, KafkaSettings

pytestmark = pytest.mark.java

OUR_DEFAULTS = {
    "num.partitions": "3",
    "default.replication.factor": "3",
    "flush.messages": "1",
    "log.flush.interval.messages": "1",
    "log.dir": "penstock-data",
    "node.id": "1",
    "process.roles": "broker,controller",
}
DECLARED = {
    "broker": BROKER_KEYS | HIDDEN_KEYS,
    "topic": TOPIC_KEYS | HIDDEN_TOPIC_KEYS,
    "group": GROUP_KEYS,
}


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkaSettings]:
    with closing(KafkaSettings()) as running:
        yield running


@pytest.mark.parametrize("resource", DECLARED)
def test_every_setting_of_kafka_is_declared_alike(kafka: KafkaSettings, resource: str) -> None:
    facts = kafka.declared(resource)
    ours = {name for name in DECLARED[resource] if not name.startswith("penstock.")}
    assert {fact["name"] for fact in facts} == ours
    for fact in facts:
        key = DECLARED[resource][fact["name"]]
        assert key.type_name == fact["type"], key
        if not fact["internal"]:
            assert key.importance == fact["importance"], key
            assert key.default == OUR_DEFAULTS.get(key.name, fact["default"]), key
        valid = fact["valid"]
        if valid and valid[0] in "[(" and "partitionId" not in valid and "..." in valid:
            assert str(key.check) == valid, key


def test_what_may_change_while_it_runs_is_what_kafka_changes(kafka: KafkaSettings) -> None:
    """Except where a change would have no effect here: that is read-only, and refused."""
    for fact in kafka.declared("broker"):
        key = DECLARED["broker"][fact["name"]]
        fixed_here = key.effect in (AT_START, PROMISE)
        assert key.update_mode == (READ_ONLY if fixed_here else fact["update"]), key


VALUES = {
    "INT": ["-2", "-1", "0", "1", "2147483647", "2147483648", "x", ""],
    "SHORT": ["-1", "0", "1", "32767", "40000"],
    "LONG": ["-2", "-1", "0", "1", "9223372036854775807", "9223372036854775808", "1.5"],
    "DOUBLE": ["-1", "0", "1", "7", "x"],
    "BOOLEAN": ["yes", "TRUE", "false", ""],
    "STRING": ["", "nonsense"],
    "LIST": ["", "nonsense", "a,,b"],
    "CLASS": [],
    "PASSWORD": [],
}
OTHERWISE = {
    # One directory holds everything here.
    ("metadata.log.dir", "nonsense"),
    # A cluster of one needs no servers to find itself.
    ("controller.quorum.bootstrap.servers", ""),
    # Kafka's cleaner would never get anywhere.
    ("log.cleaner.io.max.bytes.per.second", "-1"),
    ("log.cleaner.io.max.bytes.per.second", "0"),
    # Kafka finds out later that there is no such class.
    ("authorizer.class.name", "nonsense"),
    # Either id alone is enough here; it counts for both.
    *(("broker.id", value) for value in VALUES["INT"]),
}


def is_refused(settings: dict[str, str]) -> bool:
    try:
        config = BrokerConfig.load(None, [f"{key}={value}" for key, value in settings.items()])
        settled_options(config, None, None, None, None)
    except PenstockError:
        return True
    return False


def test_what_kafka_does_not_start_with_is_refused(kafka: KafkaSettings) -> None:
    """And nothing else is, but for what would promise something that is not there."""
    wrong = []
    for fact in kafka.declared("broker"):
        key = DECLARED["broker"][fact["name"]]
        for value in VALUES[fact["type"]]:
            if (key.name, value) in OTHERWISE:
                continue
            there = kafka.complaint({key.name: value})
            here = is_refused(NODE | {key.name: value})
            if here != (there is not None) and not (here and is_beyond_this_node(key)):
                wrong.append(f"{key.name}={value!r}: Kafka says {there}, refused here: {here}")
    assert wrong == []


def is_beyond_this_node(key: Key) -> bool:
    return key.effect == PROMISE or key.name in (
        "offsets.topic.replication.factor",
        "transaction.state.log.replication.factor",
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"log.retention.minutes": "0"},
        {"log.retention.hours": "0"},
        {"log.retention.ms": "-2"},
        {"log.retention.hours": "0", "log.retention.ms": "5"},
        {"log.cleaner.dedupe.buffer.size": "1048576"},
        {"log.cleaner.dedupe.buffer.size": "1048577"},
        {"log.cleaner.dedupe.buffer.size": "2097153", "log.cleaner.threads": "2"},
        {"log.cleaner.dedupe.buffer.size": "2097154", "log.cleaner.threads": "2"},
        {"queued.max.request.bytes": "104857600"},
        {"connections.max.idle.ms": "101"},
        {"connections.max.idle.ms": "-1"},
        {
            "group.consumer.heartbeat.interval.ms": "45000",
            "group.consumer.max.heartbeat.interval.ms": "60000",
        },
        {
            "group.consumer.heartbeat.interval.ms": "44999",
            "group.consumer.max.heartbeat.interval.ms": "60000",
        },
        {"group.share.record.lock.duration.ms": "61000"},
        {"group.share.max.share.sessions": "10", "group.share.max.size": "11"},
        {"group.min.session.timeout.ms": "100", "group.max.session.timeout.ms": "10"},
        {"inter.broker.listener.name": "PLAINTEXT"},
        {"inter.broker.listener.name": "CONTROLLER"},
        {"advertised.listeners": "PLAINTEXT://0.0.0.0:9092"},
        {"advertised.listeners": "PLAINTEXT://here.example:9092"},
        {"advertised.listeners": "PLAINTEXT://:9092"},
        {"advertised.listeners": "SSL://here.example:9092"},
        {"listeners": "plaintext://:9092,CONTROLLER://127.0.0.1:9093"},
        {"listeners": "127.0.0.1:9092,CONTROLLER://127.0.0.1:9093"},
        {"listeners": "PLAINTEXT://:9092,PLAINTEXT://:9094,CONTROLLER://127.0.0.1:9093"},
        {"listeners": "SSL://:9092,CONTROLLER://127.0.0.1:9093"},
        {"listeners": "CONTROLLER://127.0.0.1:9093"},
        {"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:plaintext"},
        {"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:FOO"},
        {"controller.quorum.voters": "1@127.0.0.1:9093"},
        {"controller.quorum.voters": "2@127.0.0.1:9093"},
        {"process.roles": "broker"},
        {"process.roles": "controller"},
        {"process.roles": "controller,broker"},
        {"early.start.listeners": "CONTROLLER"},
        {"broker.id": "1"},
        {"broker.id": "2"},
    ],
    ids=lambda settings: ",".join("=".join(item) for item in settings.items()),
)
def test_settings_that_depend_on_each_other(kafka: KafkaSettings, settings: dict[str, str]) -> None:
    assert is_refused(NODE | settings) == (kafka.complaint(settings) is not None)
