"""Topics that a consumer needs beside its own, made if missing: for retries and dead letters."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.client.app.declaration import Declaration
from penstock.client.app.log import LOG
from penstock.client.app.membership import reason_of
from penstock.client.duration import milliseconds
from penstock.client.error import ConsumeError
from penstock.client.session import LOG as LIBRDKAFKA_LOG

TIMEOUT_S = 15.0
_WEEK_MS = 7 * 86_400_000


def make_topics(settings: dict[str, Any], declared: Declaration, timeout_s: float) -> None:
    """Retry topics have as many partitions as their source, and outlive their delay by a week."""
    admin = AdminClient(settings, logger=LIBRDKAFKA_LOG)
    sizes = {topic: _partitions(admin, topic, timeout_s) for topic in declared.topics}
    wanted = {
        topic: (sizes[source], _WEEK_MS + milliseconds(delay))
        for topic, (source, delay) in declared.delayed_topics.items()
    }
    dead = declared.dead_letters
    wanted[dead.topic] = (-1, dead.retention_ms)
    for topic, (partitions, retention_ms) in wanted.items():
        new = NewTopic(
            topic,
            num_partitions=partitions,
            replication_factor=-1,
            config={"retention.ms": str(retention_ms)},
        )
        _make(admin, new, timeout_s)
    for topic in wanted:
        _partitions(admin, topic, timeout_s)


def make_topic(settings: dict[str, Any], new: NewTopic, timeout_s: float) -> None:
    """One, and wait until it is there."""
    admin = AdminClient(settings, logger=LIBRDKAFKA_LOG)
    _make(admin, new, timeout_s)
    _partitions(admin, new.topic, timeout_s)


def _make(admin: AdminClient, new: NewTopic, timeout_s: float) -> None:
    try:
        admin.create_topics([new], request_timeout=timeout_s)[new.topic].result(timeout_s)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            reason = reason_of(error)
            raise ConsumeError(f"the topic {new.topic} cannot be made: {reason}") from error


def _partitions(admin: AdminClient, topic: str, timeout_s: float) -> int:
    """Waits for a topic that is not there yet: whoever writes to it may come later."""
    said = False
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            found = admin.list_topics(topic, timeout=timeout_s).topics[topic]
        except KafkaException as error:
            raise ConsumeError(f"no broker answers: {reason_of(error)}") from error
        if found.error is None and found.partitions:
            return len(found.partitions)
        if time.monotonic() > deadline:
            raise ConsumeError(f"there is no topic {topic}")
        if not said:
            LOG.warning("waiting for the topic %s", topic)
            said = True
        time.sleep(0.1)
