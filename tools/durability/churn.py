"""Topics created and deleted through the crashes, and the check that each answer stayed true."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tools.durability.checker import Violation

PREFIX = "churn-"


@dataclass
class Fate:
    """What is known of one topic. Names are never used twice."""

    partitions: int
    created: bool = False
    deletion_asked: bool = False
    deleted: bool = False


class Churn(threading.Thread):
    def __init__(self, bootstrap: str) -> None:
        super().__init__(name="churn", daemon=True)
        self.fates: dict[str, Fate] = {}
        self.stopping = threading.Event()
        self._admin = AdminClient(
            {
                "bootstrap.servers": bootstrap,
                "log_level": 0,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 100,
            }
        )

    def run(self) -> None:
        number = 0
        while not self.stopping.is_set():
            name = f"{PREFIX}{number:05}"
            fate = self.fates[name] = Fate(partitions=1 + number % 4)
            fate.created = self._add(name, fate.partitions)
            # Every other topic stays, so that both answers are put to the test.
            if fate.created and number % 2:
                fate.deletion_asked = True
                fate.deleted = self._remove(name)
            number += 1
            time.sleep(0.02)

    def _add(self, name: str, partitions: int) -> bool:
        topic = NewTopic(name, num_partitions=partitions, replication_factor=1)
        return _succeeds(self._admin.create_topics([topic], request_timeout=3)[name])

    def _remove(self, name: str) -> bool:
        return _succeeds(self._admin.delete_topics([name], request_timeout=3)[name])

    def check(self) -> list[Violation]:
        listed = self._admin.list_topics(timeout=10).topics
        partitions = {name: len(topic.partitions) for name, topic in listed.items()}
        return list(judge(self.fates, partitions))


def judge(fates: dict[str, Fate], listed: dict[str, int]) -> Iterable[Violation]:
    """`listed` is every topic of the broker with its number of partitions."""
    for name, fate in fates.items():
        if name in listed and fate.deleted:
            yield Violation("topic", name, "its deletion was acknowledged, yet it is there")
        elif name in listed and listed[name] != fate.partitions:
            yield Violation("topic", name, f"has {listed[name]} partitions, not {fate.partitions}")
        elif name not in listed and fate.created and not fate.deletion_asked:
            yield Violation("topic", name, "its creation was acknowledged, yet it is not there")
    for name in listed:
        if name.startswith(PREFIX) and name not in fates:
            yield Violation("topic", name, "nobody asked for it")


def _succeeds(future: object) -> bool:
    try:
        future.result(timeout=8)  # type: ignore[attr-defined]
    except KafkaException as error:
        # A retry inside librdkafka meets the work of its first try, whose answer was lost.
        return bool(error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS)
    except TimeoutError:
        return False
    return True
