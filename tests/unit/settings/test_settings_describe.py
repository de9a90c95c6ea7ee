"""What DescribeConfigs answers. The expected synonyms and sources were observed on Apache Kafka
4.3.0 with the same settings."""

from __future__ import annotations

import pytest

from penstock.settings.broker import BROKER_KEYS
from penstock.settings.config import BrokerConfig
from penstock.settings.describe import (
    Entry,
    describe_broker,
    describe_broker_default,
    describe_topic,
)
from penstock.settings.topic import TOPIC_KEYS

MAX = str(2**63 - 1)


def configured() -> BrokerConfig:
    config = BrokerConfig.load(
        None,
        [
            "node.id=1",
            "log.retention.hours=168",
            "log.segment.bytes=2000000",
            "ssl.keystore.password= ",
            "listener.name.plaintext.num.network.threads=7",
        ],
    )
    dynamic = {
        "log.retention.ms": "12345",
        "listeners": "PLAINTEXT://:1",
        "num.network.threads": "5",
        "foo.bar": "z",
        "listener.name.plaintext.num.network.threads": "8",
        "log.flush.interval.ms": "7777",
    }
    return config.with_dynamic(dynamic, {"min.insync.replicas": "1"})


def by_name(entries: list[Entry]) -> dict[str, Entry]:
    found = {entry.name: entry for entry in entries}
    assert len(found) == len(entries)
    return found


OVERRIDES = {
    "retention.ms": "1000",
    "cleanup.policy": "compact,compact",
    "preallocate": " TRUE ",
    "leader.replication.throttled.replicas": "0:1, 1:2",
    "max.message.bytes": "+5",
    "min.cleanable.dirty.ratio": "0.5f",
}


@pytest.mark.parametrize(
    ("name", "value", "source", "kind", "synonyms"),
    [
        ("compression.type", "producer", 5, 2, [("compression.type", "producer", 5)]),
        ("remote.storage.enable", "false", 5, 1, []),
        (
            "leader.replication.throttled.replicas",
            "0:1,1:2",
            1,
            7,
            [("leader.replication.throttled.replicas", "0:1,1:2", 1)],
        ),
        (
            "min.insync.replicas",
            "1",
            3,
            3,
            [("min.insync.replicas", "1", 3), ("min.insync.replicas", "1", 5)],
        ),
        ("segment.jitter.ms", "0", 5, 5, []),
        ("segment.ms", "604800000", 5, 5, []),
        (
            "cleanup.policy",
            "compact",
            1,
            7,
            [("cleanup.policy", "compact", 1), ("log.cleanup.policy", "delete", 5)],
        ),
        (
            "flush.ms",
            "7777",
            2,
            5,
            [("log.flush.interval.ms", "7777", 2), ("log.flush.scheduler.interval.ms", MAX, 5)],
        ),
        (
            "segment.bytes",
            "2000000",
            4,
            3,
            [("log.segment.bytes", "2000000", 4), ("log.segment.bytes", "1073741824", 5)],
        ),
        (
            "retention.ms",
            "1000",
            1,
            5,
            [
                ("retention.ms", "1000", 1),
                ("log.retention.ms", "12345", 2),
                ("log.retention.hours", "168", 4),
                ("log.retention.hours", "168", 5),
            ],
        ),
        (
            "max.message.bytes",
            "5",
            1,
            3,
            [("max.message.bytes", "5", 1), ("message.max.bytes", "1048588", 5)],
        ),
        (
            "preallocate",
            "true",
            1,
            1,
            [("preallocate", "true", 1), ("log.preallocate", "false", 5)],
        ),
        (
            "min.cleanable.dirty.ratio",
            "0.5",
            1,
            6,
            [
                ("min.cleanable.dirty.ratio", "0.5", 1),
                ("log.cleaner.min.cleanable.ratio", "0.5", 5),
            ],
        ),
    ],
)
def test_topic(
    name: str, value: str, source: int, kind: int, synonyms: list[tuple[str, str, int]]
) -> None:
    entry = by_name(describe_topic(configured(), OVERRIDES))[name]
    assert (entry.value, entry.source, entry.type) == (value, source, kind)
    assert list(entry.synonyms) == synonyms
    assert not entry.read_only and not entry.is_sensitive
    assert entry.documentation == TOPIC_KEYS[name].documentation


def test_all_topic_settings_are_described() -> None:
    assert by_name(describe_topic(BrokerConfig(), {})).keys() == TOPIC_KEYS.keys()


@pytest.mark.parametrize(
    ("name", "value", "source", "read_only", "synonyms"),
    [
        (
            "log.flush.interval.ms",
            "7777",
            2,
            False,
            [("log.flush.interval.ms", "7777", 2), ("log.flush.scheduler.interval.ms", MAX, 5)],
        ),
        (
            "log.flush.scheduler.interval.ms",
            MAX,
            5,
            True,
            [("log.flush.scheduler.interval.ms", MAX, 5)],
        ),
        (
            "log.retention.ms",
            "12345",
            2,
            False,
            [
                ("log.retention.ms", "12345", 2),
                ("log.retention.hours", "168", 4),
                ("log.retention.hours", "168", 5),
            ],
        ),
        (
            "log.retention.hours",
            "168",
            4,
            True,
            [("log.retention.hours", "168", 4), ("log.retention.hours", "168", 5)],
        ),
        ("log.retention.minutes", None, 5, True, []),
        ("log.roll.ms", None, 5, False, []),
        ("broker.id", "1", 4, True, [("broker.id", "1", 4), ("broker.id", "-1", 5)]),
        ("log.dirs", None, 5, True, []),
        (
            "listener.name.plaintext.num.network.threads",
            "8",
            2,
            True,
            [
                ("listener.name.plaintext.num.network.threads", "8", 2),
                ("num.network.threads", "5", 2),
                ("listener.name.plaintext.num.network.threads", "7", 4),
                ("num.network.threads", "3", 5),
            ],
        ),
    ],
)
def test_broker(
    name: str,
    value: str | None,
    source: int,
    read_only: bool,
    synonyms: list[tuple[str, str, int]],
) -> None:
    entry = by_name(describe_broker(configured()))[name]
    assert (entry.value, entry.source, entry.read_only) == (value, source, read_only)
    assert list(entry.synonyms) == synonyms


def test_secrets_are_not_shown() -> None:
    secret = by_name(describe_broker(configured()))["ssl.keystore.password"]
    assert (secret.value, secret.source, secret.is_sensitive) == (None, 4, True)
    assert list(secret.synonyms) == [("ssl.keystore.password", None, 4)]


def test_what_nobody_declared_is_shown_without_its_value() -> None:
    entry = by_name(describe_broker(configured()))["foo.bar"]
    assert (entry.value, entry.source, entry.is_sensitive, entry.type) == (None, 2, True, 0)


def test_what_is_not_followed_is_not_shown() -> None:
    entries = by_name(describe_broker(configured()))
    where = entries["listeners"]
    assert (where.value, where.source, where.read_only) == ("PLAINTEXT://:9092", 5, True)


def test_all_broker_settings_are_described() -> None:
    assert by_name(describe_broker(BrokerConfig())).keys() == BROKER_KEYS.keys()


def test_the_default_of_all_brokers_lists_only_what_was_changed() -> None:
    (entry,) = describe_broker_default(configured())
    assert (entry.name, entry.value, entry.source) == ("min.insync.replicas", "1", 3)
    assert list(entry.synonyms) == [("min.insync.replicas", "1", 3)]
    assert not entry.read_only


def test_hidden_settings_are_taken_but_not_described() -> None:
    config = BrokerConfig.load(None, ["log.initial.task.delay.ms=5"])
    assert config.get("log.initial.task.delay.ms") == 5
    assert by_name(describe_broker(config)).keys() == BROKER_KEYS.keys()
