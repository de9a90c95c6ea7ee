"""A reader without a group that follows a topic through everything, and notes what it sees."""

from __future__ import annotations

import threading
from collections import defaultdict

from confluent_kafka import Consumer, Message
from confluent_kafka import TopicPartition as Position

from penstock.model.id import TopicPartition
from penstock.testing.history import Assign, Event, Poll, Seen
from tools.cluster_chaos.setup import PARTITIONS, is_reset, reader_settings
from tools.exactly_once.setup import TRANSACTION_HEADER, now_s

_POLL_S = 0.2
_AT_ONCE = 200


class Watcher(threading.Thread):
    def __init__(self, bootstrap: str, topic: str, *, committed_only: bool) -> None:
        level = "read_committed" if committed_only else "read_uncommitted"
        super().__init__(name=f"{level} watcher of {topic}", daemon=True)
        self.events: list[Event] = []
        self.stopping = threading.Event()
        self.count = 0
        self.resets: list[str] = []
        self._topic = topic
        self._committed_only = committed_only
        settings = {"group.id": "nobody", "isolation.level": level}
        self._consumer = Consumer(reader_settings(bootstrap) | settings)

    def run(self) -> None:
        began_s = now_s()
        self._consumer.assign([Position(self._topic, index, 0) for index in range(PARTITIONS)])
        for index in range(PARTITIONS):
            where = TopicPartition(self._topic, index)
            self.events.append(
                Assign(
                    process=self.name,
                    partition=where,
                    position=0,
                    began_s=began_s,
                    ended_s=began_s,
                )
            )
        while not self.stopping.is_set():
            self._note(self._consumer.consume(_AT_ONCE, _POLL_S))
        self._consumer.close()

    def _note(self, messages: list[Message]) -> None:
        records: dict[int, list[Seen]] = defaultdict(list)
        for message in messages:
            if is_reset(message):
                self.resets.append(f"{self.name}: {message.error()}")
            elif message.error() is None:
                records[message.partition() or 0].append(seen(message))
        when = now_s()
        for index, found in records.items():
            self.count += len(found)
            self.events.append(
                Poll(
                    process=self.name,
                    began_s=when,
                    ended_s=when,
                    partition=TopicPartition(self._topic, index),
                    records=tuple(found),
                    committed_only=self._committed_only,
                )
            )


def seen(message: Message) -> Seen:
    headers = dict(message.headers() or [])
    tag = headers.get(TRANSACTION_HEADER)
    value = (message.value() or b"").decode()
    return Seen(message.offset() or 0, value, tag.decode() if isinstance(tag, bytes) else None)
