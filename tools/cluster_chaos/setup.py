"""What all parts of the test agree on: topics, groups, settings of the nodes."""

from __future__ import annotations

from typing import Any, Final

from confluent_kafka import KafkaError, Message

from tools.exactly_once.setup import BROKER_SETTINGS, PARTITIONS, client_settings

MEMBERS: Final = "members"
"""A group that commits its offsets by itself, without transactions."""
REPLICAS: Final = 3
MIN_IN_SYNC: Final = 2

# Both brokers know these. A dead node is missed within seconds, so that more happens in a run; a
# follower that is cut off leaves the in-sync set before its link heals.
NODE_SETTINGS: Final = BROKER_SETTINGS | {
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "4000",
    "transaction.state.log.num.partitions": "4",
    "offsets.topic.num.partitions": "4",
    "auto.create.topics.enable": "false",
}

TOPIC_SETTINGS: Final = {"min.insync.replicas": str(MIN_IN_SYNC)}

__all__ = [
    "MEMBERS",
    "MIN_IN_SYNC",
    "NODE_SETTINGS",
    "PARTITIONS",
    "REPLICAS",
    "TOPIC_SETTINGS",
    "client_settings",
    "is_reset",
    "reader_settings",
]


def reader_settings(bootstrap: str) -> dict[str, Any]:
    return client_settings(bootstrap) | {
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "fetch.wait.max.ms": 50,
        "fetch.error.backoff.ms": 20,
    }


def is_reset(message: Message) -> bool:
    """Whether the broker had told that there is no such offset: nothing is ever deleted here."""
    error = message.error()
    return error is not None and error.code() == KafkaError._AUTO_OFFSET_RESET
