"""Load process: payments at a steady rate, each carrying the moment it was produced in its id.

`go {"rate", "seconds"}` starts, `result` waits for the end; `fill {"count"}` sends as fast as it
goes. The id of a payment is the key of its
verdict, so whoever reads a verdict knows its latency without a look into it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Producer

from bench.pipelines.child import Handler, Spec, serve
from bench.pipelines.payment import Wallet

# Waking up more often costs more than it smooths.
TICK_S = 0.003
REPORT_S = 0.25


class Generator:
    def __init__(self, spec: Spec) -> None:
        self._topic: str = spec["topic"]
        self._wallet = Wallet(spec["accounts"])
        self._producer = Producer(
            {
                "bootstrap.servers": spec["bootstrap"],
                "acks": "all",
                "linger.ms": 2,
                "batch.num.messages": 10_000,
                "queue.buffering.max.messages": 500_000,
                # As Java's clients place keys, whoever reads them.
                "partitioner": "murmur2_random",
                "delivery.report.only.error": True,
                "error_cb": lambda _: None,
                "on_delivery": self._failed,
                "log_level": 3,
            }
        )
        self._producer.list_topics(self._topic, timeout=30)
        self._thread: threading.Thread | None = None
        self._counts: list[tuple[float, int]] = []
        self._sent = 0
        self._failures = 0

    def handle(self, word: str, spec: Spec) -> Spec:
        if word == "go":
            arguments = (float(spec["rate"]), float(spec["seconds"]))
            self._thread = threading.Thread(target=self._run, args=arguments)
            self._thread.start()
            return {"at": time.time()}
        if word == "fill":
            self._send(int(spec["count"]))
            self._producer.flush(120)
            return {"sent": self._sent, "failures": self._failures}
        if word == "result" and self._thread is not None:
            self._thread.join()
            return {"sent": self._sent, "counts": self._counts, "failures": self._failures}
        raise ValueError(word)

    def close(self) -> None:
        self._producer.flush(30)

    def _run(self, rate: float, seconds: float) -> None:
        base, began = self._sent, time.time()
        self._counts.append((began, base))
        reported = began
        while (now := time.time()) < began + seconds:
            self._send(base + int((now - began) * rate) - self._sent)
            if now - reported >= REPORT_S:
                self._counts.append((time.time(), self._sent))
                reported = now
            time.sleep(TICK_S)
        self._producer.flush(30)
        self._counts.append((time.time(), self._sent))

    def _send(self, due: int) -> None:
        while due > 0:
            messages = self._wallet.messages(self._sent, min(due, 1_000), time.time())
            try:
                taken = self._producer.produce_batch(self._topic, messages)
            except BufferError:
                taken = 0
            self._sent += taken
            due -= taken
            self._producer.poll(0 if taken == len(messages) else 0.01)

    def _failed(self, error: object, _: object) -> None:
        if error is not None:
            self._failures += 1


@contextmanager
def generate(spec: Spec) -> Iterator[Handler]:
    generator = Generator(spec)
    try:
        yield generator.handle
    finally:
        generator.close()


if __name__ == "__main__":
    serve(generate)
