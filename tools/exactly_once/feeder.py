"""Fills the source topic through all crashes, and notes what was acknowledged."""

from __future__ import annotations

import threading
import time
from collections import Counter

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from penstock.model.id import TopicPartition
from penstock.testing.history import Outcome, Produce
from tools.exactly_once.setup import PARTITIONS, SOURCE, client_settings, now_s

_TICK_S = 0.02


class Feeder(threading.Thread):
    def __init__(self, bootstrap: str, rate: int) -> None:
        super().__init__(name="feeder", daemon=True)
        self.events: list[Produce] = []
        self.stopping = threading.Event()
        self.acknowledged: Counter[int] = Counter()
        """Records, by partition."""
        self.failure: str | None = None
        """Why it gave up: an idempotent producer has no reason to, whatever happens to nodes."""
        self._rate = rate
        self._count = 0
        settings = {"enable.idempotence": True, "message.timeout.ms": 0, "linger.ms": 1}
        self._producer = Producer(
            client_settings(bootstrap) | settings | {"error_cb": self._on_error}
        )

    def run(self) -> None:
        began = time.monotonic()
        while not self.stopping.is_set() and self.failure is None:
            due = int((time.monotonic() - began) * self._rate)
            try:
                while self._count < due:
                    self._send()
            except BufferError:
                pass  # the queue is full: nobody has taken records for long
            except KafkaException as error:
                self._fail(error)
            self._poll()

    def drain(self, timeout_s: float) -> int:
        """How many are still not acknowledged then."""
        deadline = time.monotonic() + timeout_s
        while self.failure is None and len(self._producer) and time.monotonic() < deadline:
            self._poll()
        return len(self._producer)

    def _poll(self) -> None:
        try:
            self._producer.poll(_TICK_S)
        except Exception as error:
            # After a fatal error it raises, at times without saying what, and so may whatever a
            # report calls (`penstock.client.fatal`): then the context is a KafkaError, which is no
            # exception, and whoever prints it fails.
            self._fail(error)

    def _on_error(self, error: KafkaError) -> None:
        """Also called for what passes, such as a broker that is down."""
        if error.fatal():
            self._fail(error)

    def _fail(self, error: object) -> None:
        self.failure = self.failure or str(error)

    def _send(self) -> None:
        where = TopicPartition(SOURCE, self._count % PARTITIONS)
        value = f"{where.partition}:{self._count // PARTITIONS}"
        began_s = now_s()

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self.acknowledged[where.partition] += 1
                self._note(where, value, Outcome.OK, message.offset(), began_s)
            else:
                self._fail(f"{value!r}: {error}")

        key = f"key-{self._count % 97}".encode()
        # Noted after it is queued, and before anybody can hear of it: callbacks come in `poll`.
        self._producer.produce(
            SOURCE, value.encode(), key, partition=where.partition, on_delivery=delivered
        )
        self._note(where, value, Outcome.UNKNOWN, None, began_s)
        self._count += 1

    def _note(
        self,
        where: TopicPartition,
        value: str,
        outcome: Outcome,
        offset: int | None,
        began_s: float,
    ) -> None:
        self.events.append(
            Produce(
                process="feeder",
                began_s=began_s,
                ended_s=now_s(),
                partition=where,
                value=value,
                outcome=outcome,
                offset=offset,
            )
        )
