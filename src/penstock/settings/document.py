"""The documentation of a setting, as DescribeConfigs and docs/configuration.md show it."""

from __future__ import annotations

from typing import Final

from penstock.settings.key import (
    AT_START,
    BOOLEAN,
    CLASS,
    LIST,
    PASSWORD,
    PROMISE,
    READ,
    UNREAD,
    Key,
)
from penstock.settings.sentence import BROKER_SENTENCES, TOPIC_SENTENCES
from penstock.settings.synonym import BROKER_TO_TOPIC

_EFFECTS: Final = {
    READ: "",
    AT_START: "",
    UNREAD: " Accepted for compatibility; has no effect in Penstock.",
    PROMISE: " Only the default is accepted: Penstock does not do this yet.",
}

_AREAS: Final = (
    ("add.partitions.to.txn.", "transactions"),
    ("alter.log.dirs.", "moving replicas between directories"),
    ("consumer.", "this consumer group, over the broker's"),
    ("controller.", "the controller quorum"),
    ("delegation.token.", "delegation tokens"),
    ("follower.", "replication between brokers"),
    ("group.consumer.", "consumer groups of the newer protocol"),
    ("group.share.", "share groups"),
    ("group.streams.", "streams groups"),
    ("group.", "group coordination"),
    ("leader.", "replication between brokers"),
    ("log.", "the log"),
    ("max.connection", "connections"),
    ("metadata.", "the metadata log"),
    ("metric", "metrics"),
    ("kafka.metrics.", "metrics"),
    ("num.replica", "replication between brokers"),
    ("offsets.", "committed offsets"),
    ("quota.", "quotas"),
    ("remote.", "tiered storage"),
    ("replica", "replication between brokers"),
    ("sasl.kerberos.", "Kerberos authentication"),
    ("sasl.oauthbearer.", "OAuth authentication"),
    ("sasl.", "SASL authentication"),
    ("share.", "the state of share groups"),
    ("streams.", "this streams group, over the broker's"),
    ("socket.", "connections"),
    ("ssl.", "TLS"),
    ("transaction", "transactions"),
)
_UNITS: Final = (
    ("ms", "A time in milliseconds"),
    ("seconds", "A time in seconds"),
    ("secs", "A time in seconds"),
    ("minutes", "A time in minutes"),
    ("hours", "A time in hours"),
    ("bytes", "A size in bytes"),
    ("size", "A size"),
    ("threads", "A number of threads"),
    ("num", "A number"),
)


def document(key: Key) -> str:
    sentence = TOPIC_SENTENCES.get(key.name) or BROKER_SENTENCES.get(key.name)
    if sentence is None:
        sentence = _default_of_topic(key.name) or _generic(key)
    return sentence + _EFFECTS[key.effect]


def _default_of_topic(name: str) -> str | None:
    topic = BROKER_TO_TOPIC.get(name)
    if topic is None:
        return None
    unit = name.rpartition(".")[2]
    in_unit = f" in {unit}" if unit in ("hours", "minutes") else ""
    return f"What topics have for {topic} unless they set it themselves{in_unit}."


def _generic(key: Key) -> str:
    area = next((text for prefix, text in _AREAS if key.name.startswith(prefix)), "the broker")
    return f"{_what(key)} of {area}."


def _what(key: Key) -> str:
    if key.type == BOOLEAN:
        return "A switch"
    if key.type == CLASS or ".class" in key.name:
        return "A Java class"
    if key.type == PASSWORD:
        return "A secret"
    if key.type == LIST:
        return "A list"
    ending = key.name.rpartition(".")[2]
    return next((text for unit, text in _UNITS if ending == unit), "A setting")
