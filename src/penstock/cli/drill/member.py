"""A consumer of the drill: a thread that deals with records one by one and commits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

_COMMIT_S: Final = 0.3
_RETRY_S: Final = 0.3
_BATCH: Final = 20


@dataclass(slots=True)
class Conduct:
    """How the members of a group deal with records; changed while they run."""

    work_s: float
    """For each record."""
    crash_s: float | None = None
    """After so long each of them ends, and starts again."""


class Member(threading.Thread):
    def __init__(
        self, servers: str, group: str, topic: str, client_id: str, work: Callable[[], float],
        conduct: Conduct,
    ) -> None:  # fmt: skip
        """`work` is how long a record takes now, what all call included."""
        super().__init__(name=client_id, daemon=True)
        self._settings = {
            "bootstrap.servers": servers,
            "group.id": group,
            "client.id": client_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
            "session.timeout.ms": 6000,
            "fetch.wait.max.ms": 100,
            # In small pieces: one that a quota holds back goes on bit by bit.
            "fetch.message.max.bytes": 2000,
        }
        self._topic = topic
        self._work = work
        self._conduct = conduct
        self._ended = threading.Event()
        self.dealt = 0

    def end(self) -> None:
        self._ended.set()

    def run(self) -> None:
        while not self._ended.is_set():
            consumer = Consumer(self._settings)
            consumer.subscribe([self._topic])
            started = time.monotonic()
            try:
                while not self._ended.is_set() and not self._crashes(started):
                    with suppress(KafkaException):
                        self._deal(consumer, consumer.consume(_BATCH, 0.1))
            finally:
                with suppress(KafkaException):
                    consumer.close()

    def _crashes(self, started: float) -> bool:
        crash_s = self._conduct.crash_s
        return crash_s is not None and time.monotonic() > started + crash_s

    def _deal(self, consumer: Consumer, records: list[Message]) -> None:
        done: dict[int, int] = {}
        committed = time.monotonic()
        for each in records:
            if each.error() is not None or self._ended.is_set():
                continue
            partition, offset = each.partition() or 0, each.offset() or 0
            if each.key() == b"poison":
                # It fails, and is tried again: what comes behind it waits.
                self._commit(consumer, done)
                self._ended.wait(_RETRY_S)
                consumer.seek(TopicPartition(self._topic, partition, offset))
                return
            self._ended.wait(self._work())
            self.dealt += 1
            done[partition] = offset + 1
            if time.monotonic() > committed + _COMMIT_S:
                self._commit(consumer, done)
                committed = time.monotonic()
        self._commit(consumer, done)

    def _commit(self, consumer: Consumer, done: dict[int, int]) -> None:
        if done:
            places = [TopicPartition(self._topic, *each) for each in done.items()]
            done.clear()
            consumer.commit(offsets=places, asynchronous=False)
