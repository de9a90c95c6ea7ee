"""Fills the source topic through all crashes, and notes what was acknowledged."""

from __future__ import annotations

import threading
import time

from confluent_kafka import KafkaError, Message, Producer

from penstock.model.id import TopicPartition
from penstock.testing.history import Outcome, Produce
from tools.exactly_once.setup import PARTITIONS, SOURCE, client_settings, now_s

_TICK_S = 0.02


class Feeder(threading.Thread):
    def __init__(self, bootstrap: str, rate: int) -> None:
        super().__init__(name="feeder", daemon=True)
        self.events: list[Produce] = []
        self.stopping = threading.Event()
        self._rate = rate
        self._count = 0
        settings = {"enable.idempotence": True, "message.timeout.ms": 0, "linger.ms": 1}
        self._producer = Producer(client_settings(bootstrap) | settings)

    def run(self) -> None:
        began = time.monotonic()
        while not self.stopping.is_set():
            due = int((time.monotonic() - began) * self._rate)
            while self._count < due:
                self._send()
            self._producer.poll(_TICK_S)

    def drain(self, timeout_s: float) -> int:
        """How many are still not acknowledged then."""
        return int(self._producer.flush(timeout_s))

    def _send(self) -> None:
        where = TopicPartition(SOURCE, self._count % PARTITIONS)
        value = f"{where.partition}:{self._count // PARTITIONS}"
        self._count += 1
        began_s = now_s()
        self._note(where, value, Outcome.UNKNOWN, None, began_s)

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self._note(where, value, Outcome.OK, message.offset(), began_s)

        key = f"key-{self._count % 97}".encode()
        self._producer.produce(
            SOURCE, value.encode(), key, partition=where.partition, on_delivery=delivered
        )

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
