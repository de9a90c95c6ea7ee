"""A producer of the drill: a thread that writes so many records a second, until it is ended."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Producer

_STEP_S: Final = 0.1
_BACKFILL_MS: Final = 3 * 86_400_000


@dataclass(slots=True)
class Manner:
    """What it writes; changed while it runs."""

    rate: float
    is_loop: bool = False
    """The same record again and again."""
    is_backfill: bool = False
    """Time stamps of days ago."""
    hot_share: float = 0.0
    """Of one key, whose partition is 0."""


class Feed(threading.Thread):
    def __init__(
        self, servers: str, topic: str, client_id: str, partitions: int, manner: Manner, seed: int
    ) -> None:
        super().__init__(name=client_id, daemon=True)
        self.manner = manner
        self._topic = topic
        self._partitions = partitions
        self._random = random.Random(seed)
        self._ended = threading.Event()
        self._count = 0
        settings = {
            "bootstrap.servers": servers,
            "client.id": client_id,
            "linger.ms": 20,
            "log_level": 0,
        }
        self._producer = Producer({**settings, "queue.buffering.max.messages": 1000})

    def run(self) -> None:
        due, last = 0.0, time.monotonic()
        while not self._ended.wait(_STEP_S):
            now = time.monotonic()
            # One that was held back does not make up for it.
            due = min(due + self.manner.rate * (now - last), 2 * self.manner.rate * _STEP_S + 1)
            last = now
            while due >= 1 and not self._ended.is_set():
                due -= 1
                self._write()
            self._producer.poll(0)
        self._producer.flush(5)

    def end(self) -> None:
        self._ended.set()

    def poison(self) -> None:
        """One record that nobody can deal with."""
        self._producer.produce(self._topic, b"\xff not JSON", b"poison", partition=0)
        self._producer.flush(10)

    def _write(self) -> None:
        manner = self.manner
        self._count += 1
        number = 0 if manner.is_loop else self._count
        is_hot = self._random.random() < manner.hot_share
        key = "customer-0" if is_hot or manner.is_loop else f"customer-{number}"
        partition = 0 if is_hot else number % self._partitions
        timestamp = int(time.time() * 1000) - (_BACKFILL_MS if manner.is_backfill else 0)
        value = b'{"order": %d, "amount": 12.50}' % number
        try:
            self._producer.produce(
                self._topic, value, key.encode(), partition=partition, timestamp=timestamp
            )
        except BufferError:
            # A quota holds it back.
            self._producer.poll(_STEP_S)
