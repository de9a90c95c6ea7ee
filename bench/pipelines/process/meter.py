"""Measuring process: reads verdicts as a `read_committed` consumer and notes when they came.

It counts every verdict, and of each so-manieth it keeps the number of its payment and the moment it
was received here. To be a light guest on two cores it lets the broker gather answers for a few
milliseconds, which the latencies include. `samples` hands over what there is and forgets it.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, Message, TopicPartition

from bench.pipelines.child import Handler, Spec, serve

GATHER_MS = 5
REPORT_S = 0.25
BATCH = 20_000


class Meter:
    def __init__(self, spec: Spec) -> None:
        self._every: int = spec["every"]
        self._consumer = Consumer(
            {
                "bootstrap.servers": spec["bootstrap"],
                "group.id": "bench-meter",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "fetch.min.bytes": 1_000_000,
                "fetch.wait.max.ms": GATHER_MS,
                "queued.min.messages": 200_000,
                "check.crcs": False,
                "log_level": 3,
            }
        )
        partitions = range(spec["partitions"])
        self._consumer.list_topics(spec["topic"], timeout=30)
        begin = OFFSET_END if spec.get("from_end") else OFFSET_BEGINNING
        self._consumer.assign([TopicPartition(spec["topic"], each, begin) for each in partitions])
        self._count = 0
        self._phase = 0
        self._first_at: float | None = None
        self._samples: list[tuple[int, float]] = []
        self._counts: list[tuple[float, int]] = [(time.time(), 0)]
        self._ending = threading.Event()
        # A message holds no cycles: looking for them is work for nothing.
        gc.disable()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def handle(self, word: str, _: Spec) -> Spec:
        if word == "count":
            return {"count": self._count, "first_at": self._first_at}
        if word == "samples":
            samples, self._samples = self._samples, []
            counts = [*self._counts, (time.time(), self._count)]
            return {"samples": samples, "counts": counts, "first_at": self._first_at}
        raise ValueError(word)

    def close(self) -> None:
        self._ending.set()
        self._thread.join()
        self._consumer.close()

    def _read(self) -> None:
        reported = time.time()
        while not self._ending.is_set():
            # Returns with what there is only after the whole timeout, so that must be short.
            messages = self._consumer.consume(BATCH, timeout=GATHER_MS / 1000)
            now = time.time()
            if messages:
                self._take(messages, now)
            if now - reported >= REPORT_S:
                self._counts.append((now, self._count))
                reported = now

    def _take(self, messages: list[Message], now: float) -> None:
        self._first_at = self._first_at or now
        for message in messages[self._phase :: self._every]:
            # Its key is the payment's id, which ends with its number.
            self._samples.append((int((message.key() or b"-0").rpartition(b"-")[2]), now))
        self._count += len(messages)
        self._phase = -self._count % self._every


@contextmanager
def measure(spec: Spec) -> Iterator[Handler]:
    meter = Meter(spec)
    try:
        yield meter.handle
    finally:
        meter.close()


if __name__ == "__main__":
    serve(measure)
