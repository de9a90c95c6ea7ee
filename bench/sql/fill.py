"""A topic of JSON records, and what is asked of it."""

from __future__ import annotations

import json
import random
from typing import Any, NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

TOPIC = "payments"
PARTITIONS = 4
START_MS = 1_700_000_000_000
COUNTRIES = ("CH", "DE", "FR", "IT", "AT", "ES", "PT", "NL", "BE", "DK")
_DISTINCT = 1000


class Filling(NamedTuple):
    records: int
    bytes: int

    @property
    def first_ms(self) -> int:
        """The middle half of the records, by time: from here on, and before `last_ms`."""
        return START_MS + self.records // 4

    @property
    def last_ms(self) -> int:
        return START_MS + self.records * 3 // 4


def fill(servers: str, size: int) -> Filling:
    """A record a millisecond; the time is in the value as well, for readers that see only that."""
    admin = AdminClient({"bootstrap.servers": servers})
    # Its records are years old: they would be deleted in the middle of the measurement.
    topic = NewTopic(TOPIC, PARTITIONS, 1, config={"retention.ms": "-1"})
    admin.create_topics([topic])[TOPIC].result(30)
    producer: Any = Producer(
        {
            "bootstrap.servers": servers,
            "compression.type": "lz4",
            "linger.ms": 20,
            "batch.size": 200_000,
            "queue.buffering.max.messages": 500_000,
        }
    )
    dice = random.Random(7)
    rests = [_rest(dice) for _ in range(_DISTINCT)]
    records = sent = 0
    while sent < size:
        time_ms = START_MS + records
        value = f'{{"at":{time_ms},"id":{records},{rests[records % _DISTINCT]}'
        while True:
            try:
                producer.produce(
                    TOPIC, value, f"{records % 50_000}", records % PARTITIONS, timestamp=time_ms
                )
                break
            except BufferError:
                producer.poll(0.1)
        records += 1
        sent += len(value)
    producer.flush()
    return Filling(records, sent)


def _rest(dice: random.Random) -> str:
    said = {
        "country": dice.choice(COUNTRIES),
        "amount": dice.randrange(100_000),
        "currency": dice.choice(("CHF", "EUR", "DKK")),
        "customer": {"name": f"customer {dice.randrange(10**9)}", "tier": dice.randrange(5)},
        "text": "".join(dice.choices("abcdefghij ", k=120)),
    }
    return json.dumps(said, separators=(",", ":"))[1:]
