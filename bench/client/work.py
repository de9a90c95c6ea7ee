"""One measured reading of a topic, in a process of its own: `python -m bench.client.work SPEC`.

Prints how many seconds passed from the first record to the last, and how many of them the
process was at work on a processor.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

WAIT_S = 0.02


@dataclass
class Spec:
    what: str
    servers: str
    topic: str
    group: str
    records: int


class Count:
    """Ends the process when all records were handled."""

    def __init__(self, records: int) -> None:
        self._left = records
        self._began = self._worked = 0.0

    def one(self) -> None:
        if self._began == 0.0:
            self._began, self._worked = time.perf_counter(), time.process_time()
        self._left -= 1
        if self._left == 0:
            print(time.perf_counter() - self._began, time.process_time() - self._worked, flush=True)
            os._exit(0)


def bare(spec: Spec, count: Count) -> None:
    """The fastest loop that confluent-kafka has, with JSON decoded and offsets committed."""
    from confluent_kafka import Consumer

    from penstock.client.app.codec import decoder

    consumer = Consumer(
        {
            "bootstrap.servers": spec.servers,
            "group.id": spec.group,
            "auto.offset.reset": "earliest",
        }
    )
    decode = decoder(dict)
    consumer.subscribe([spec.topic])
    while True:
        for message in consumer.consume(500, 0.1):
            value = message.value()
            if message.error() is None and value is not None:
                decode(value)
                count.one()


def penstock(spec: Spec, count: Count) -> None:
    from penstock.client import App, Retry

    app = App(spec.group, spec.servers)
    retry = Retry("1m", "5m", "30m") if spec.what == "penstock-retry" else None

    @app.consumer(spec.topic, retry=retry, static=False)
    async def handle(value: dict[str, Any]) -> None:
        count.one()

    app.run()


def penstock_waiting(spec: Spec, count: Count) -> None:
    from penstock.client import App

    app = App(spec.group, spec.servers)

    @app.consumer(spec.topic, concurrency=64, static=False)
    async def handle(value: dict[str, Any]) -> None:
        await asyncio.sleep(WAIT_S)
        count.one()

    app.run()


def faststream(spec: Spec, count: Count) -> None:
    from faststream import FastStream

    kind = "confluent" if spec.what == "faststream-confluent" else "kafka"
    broker: Any = import_module(f"faststream.{kind}").KafkaBroker(spec.servers)

    async def handle(value: dict[str, Any]) -> None:
        count.one()

    broker.subscriber(spec.topic, group_id=spec.group, auto_offset_reset="earliest")(handle)
    asyncio.run(FastStream(broker).run())


WORK = {
    "bare": bare,
    "penstock": penstock,
    "penstock-retry": penstock,
    "penstock-waiting": penstock_waiting,
    "faststream-confluent": faststream,
    "faststream-aiokafka": faststream,
}


def command(spec: Spec) -> list[str]:
    return [sys.executable, "-m", "bench.client.work", json.dumps(asdict(spec))]


if __name__ == "__main__":
    given = Spec(**json.loads(sys.argv[1]))
    WORK[given.what](given, Count(given.records))
