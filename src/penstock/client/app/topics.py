"""Topics that a consumer needs beside its own, made if missing: for retries and dead letters."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.client.app.declaration import Declaration
from penstock.client.app.log import LOG
from penstock.client.app.membership import reason_of
from penstock.client.duration import milliseconds
from penstock.client.error import ConsumeError
from penstock.client.letter_size import letter_config
from penstock.client.session import LOG as LIBRDKAFKA_LOG

TIMEOUT_S = 15.0
_STEP_S = 1.0
_WEEK_MS = 7 * 86_400_000


class EndedError(ConsumeError):
    """Whoever wanted the topics wants them no more."""


def make_topics(
    settings: dict[str, Any],
    declared: Declaration,
    timeout_s: float,
    is_ending: Callable[[], bool] = lambda: False,
) -> None:
    """Retry topics have as many partitions as their source, and outlive their delay by a week.

    Each new one takes records as large as its source does, with what is said of their failures.
    """
    look = _Look(AdminClient(settings, logger=LIBRDKAFKA_LOG), timeout_s, is_ending)
    try:
        _make_all(look, declared)
    except KafkaException as error:
        where, reason = settings["bootstrap.servers"], reason_of(error)
        raise ConsumeError(f"no broker answers at {where}: {reason}; is one running?") from error


def _make_all(look: _Look, declared: Declaration) -> None:
    sizes = {topic: look.partitions(topic) for topic in declared.topics}
    wanted = {
        topic: (sizes[source], _WEEK_MS + milliseconds(delay), [source])
        for topic, (source, delay) in declared.delayed_topics.items()
    }
    dead = declared.dead_letters
    wanted[dead.topic] = (-1, dead.retention_ms, declared.topics)
    for topic, (partitions, retention_ms, sources) in wanted.items():
        config = {"retention.ms": str(retention_ms)}
        config |= letter_config(look.admin, sources, look.timeout_s)
        new = NewTopic(topic, num_partitions=partitions, replication_factor=-1, config=config)
        _make(look.admin, new, look.timeout_s)
    for topic in wanted:
        look.partitions(topic)


def make_topic(settings: dict[str, Any], new: NewTopic, timeout_s: float) -> None:
    """One, and wait until it is there."""
    look = _Look(AdminClient(settings, logger=LIBRDKAFKA_LOG), timeout_s, lambda: False)
    _make(look.admin, new, timeout_s)
    look.partitions(new.topic)


def _make(admin: AdminClient, new: NewTopic, timeout_s: float) -> None:
    try:
        admin.create_topics([new], request_timeout=timeout_s)[new.topic].result(timeout_s)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            reason = reason_of(error)
            raise ConsumeError(f"the topic {new.topic} cannot be made: {reason}") from error


class _Look:
    """In short steps: a broker that is away does not hold up whoever wants to end."""

    def __init__(self, admin: AdminClient, timeout_s: float, is_ending: Callable[[], bool]) -> None:
        self.admin, self.timeout_s = admin, timeout_s
        self._is_ending = is_ending

    def partitions(self, topic: str) -> int:
        """Waits for a topic that is not there yet: whoever writes to it may come later."""
        said = False
        deadline = time.monotonic() + self.timeout_s
        while True:
            found = self._described(topic, deadline)
            if found.error is None and found.partitions:
                return len(found.partitions)
            if time.monotonic() > deadline:
                raise ConsumeError(f"there is no topic {topic}")
            if not said:
                LOG.warning("waiting for the topic %s", topic)
                said = True
            time.sleep(0.1)

    def _described(self, topic: str, deadline: float) -> Any:
        while True:
            if self._is_ending():
                raise EndedError("ended before it began")
            try:
                return self.admin.list_topics(topic, timeout=_STEP_S).topics[topic]
            except KafkaException:
                if time.monotonic() > deadline:
                    raise
