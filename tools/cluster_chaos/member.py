"""A member of a group that reads and commits; now and then it leaves, and comes back as another."""

from __future__ import annotations

import random
import threading
import time

from confluent_kafka import Consumer, KafkaException, Message
from confluent_kafka import TopicPartition as Position

from penstock.model.id import TopicPartition
from penstock.testing.history import Assign, Commit, Event, Outcome, Poll, Seen
from tools.cluster_chaos.setup import MEMBERS, is_reset, reader_settings
from tools.exactly_once.copier import committed_of
from tools.exactly_once.setup import SESSION_TIMEOUT_MS, now_s

_POLL_S = 0.2
_AT_ONCE = 100
_STAY_S = (5.0, 30.0)


class Member(threading.Thread):
    def __init__(self, bootstrap: str, topic: str, number: int) -> None:
        super().__init__(name=f"member-{number}", daemon=True)
        self.events: list[Event] = []
        self.stopping = threading.Event()
        self.commits = 0
        self.gave_up = 0
        self.resets: list[str] = []
        self._dice = random.Random(number)
        self._life = 0
        self._topic = topic
        self._settings = reader_settings(bootstrap) | {
            "group.id": MEMBERS,
            "isolation.level": "read_committed",
            "session.timeout.ms": SESSION_TIMEOUT_MS,
            "heartbeat.interval.ms": 300,
        }
        self._positions: dict[int, int] = {}

    def run(self) -> None:
        while not self.stopping.is_set():
            self._live(time.monotonic() + self._dice.uniform(*_STAY_S))

    def _live(self, until: float) -> None:
        self._life += 1
        self._process = f"{self.name}.{self._life}"
        consumer = Consumer(self._settings)
        consumer.subscribe(
            [self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
        )
        try:
            while time.monotonic() < until and not self.stopping.is_set():
                self._note(consumer.consume(_AT_ONCE, _POLL_S))
                self._commit(consumer)
        except KafkaException:
            self.gave_up += 1
        finally:
            consumer.close()

    def _assigned(self, consumer: Consumer, partitions: list[Position]) -> None:
        began_s = now_s()
        # If that fails, so does the poll that called this, and this life ends.
        committed = committed_of(consumer, partitions)
        self._positions.clear()
        for position in committed:
            known = position.offset if position.offset >= 0 else None
            self.events.append(
                Assign(
                    process=self._process,
                    began_s=began_s,
                    ended_s=now_s(),
                    partition=TopicPartition(self._topic, position.partition),
                    position=known,
                    group=MEMBERS,
                )
            )
        for position in committed:
            position.offset = max(position.offset, 0)
        consumer.assign(committed)

    def _revoked(self, _: Consumer, __: list[Position]) -> None:
        self._positions.clear()

    def _note(self, messages: list[Message]) -> None:
        when = now_s()
        records: dict[int, list[Seen]] = {}
        for message in messages:
            if is_reset(message):
                self.resets.append(f"{self._process}: {message.error()}")
            elif message.error() is None:
                index, offset = message.partition() or 0, message.offset() or 0
                one = Seen(offset, (message.value() or b"").decode())
                records.setdefault(index, []).append(one)
                self._positions[index] = offset + 1
        for index, found in records.items():
            self.events.append(
                Poll(
                    process=self._process,
                    began_s=when,
                    ended_s=when,
                    partition=TopicPartition(self._topic, index),
                    records=tuple(found),
                )
            )

    def _commit(self, consumer: Consumer) -> None:
        positions, self._positions = self._positions, {}
        if not positions:
            return
        offsets = [Position(self._topic, index, offset) for index, offset in positions.items()]
        began_s = now_s()
        self._note_commit(offsets, began_s, Outcome.UNKNOWN)
        try:
            answered = consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException:
            # It may have been taken all the same, so it stays unknown.
            return
        taken = [position for position in answered or [] if position.error is None]
        self._note_commit(taken, began_s, Outcome.OK)
        self.commits += len(taken)

    def _note_commit(self, offsets: list[Position], began_s: float, outcome: Outcome) -> None:
        self.events += [
            Commit(
                process=self._process,
                began_s=began_s,
                ended_s=now_s(),
                group=MEMBERS,
                partition=TopicPartition(self._topic, position.partition),
                offset=position.offset,
                outcome=outcome,
            )
            for position in offsets
        ]
