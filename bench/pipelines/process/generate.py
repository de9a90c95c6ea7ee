"""Load process: the fraud job's own traffic at a steady rate, drawn beforehand.

`draw {"count"}` draws payments while nothing is measured, since that costs more than to send them;
`go {"rate", "seconds"}` starts to send and `result` waits for the end; `fill {"count"}` sends as
fast as it goes. Payments are numbered in the order of sending, and the result says when which
number was handed to the producer.
"""

from __future__ import annotations

import gc
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Producer

from bench.pipelines.child import Handler, Spec, serve
from penstock.pipelines.jobs.fraud.incident import Mix
from penstock.pipelines.jobs.fraud.traffic import Traffic

# Waking up more often costs more than it smooths.
TICK_S = 0.003
DRAW = 2_000
# Histories are at most so long in the past when the first payment is made.
AGE_MS = 400 * 86_400_000


class Generator:
    def __init__(self, spec: Spec) -> None:
        self._topic: str = spec["topic"]
        self._traffic = Traffic(
            spec.get("seed", 7),
            accounts=spec["accounts"],
            partitions=spec["partitions"],
            start_ms=int(time.time() * 1000) - AGE_MS,
            # What cannot be decoded has no verdict to be timed.
            mix=Mix(undecodable=0.0),
        )
        self._failures = 0
        self._producer = Producer(
            {
                "bootstrap.servers": spec["bootstrap"],
                "acks": "all",
                "linger.ms": 2,
                "batch.num.messages": 10_000,
                "queue.buffering.max.messages": 500_000,
                "queue.buffering.max.kbytes": 1_000_000,
                "delivery.report.only.error": True,
                "on_delivery": self._failed,
                "log_level": 3,
            }
        )
        self._producer.list_topics(self._topic, timeout=30)
        self._drawn: deque[Any] = deque()
        self._thread: threading.Thread | None = None
        self._sent = 0
        self._handed: list[tuple[float, int]] = []

    def handle(self, word: str, spec: Spec) -> Spec:
        if word == "draw":
            self._draw(int(spec["count"]))
            return {"drawn": len(self._drawn)}
        if word == "go":
            self._handed = []
            arguments = (float(spec["rate"]), float(spec["seconds"]))
            self._thread = threading.Thread(target=self._run, args=arguments)
            self._thread.start()
            return {"at": time.time()}
        if word == "sent":
            return self._result()
        if word == "fill":
            self._send(int(spec["count"]))
            self._producer.flush(120)
            return self._result()
        if word == "result" and self._thread is not None:
            self._thread.join()
            return self._result() | {"handed": self._handed}
        raise ValueError(word)

    def close(self) -> None:
        self._producer.flush(30)

    def _result(self) -> Spec:
        return {"sent": self._sent, "failures": self._failures}

    def _draw(self, count: int) -> None:
        while len(self._drawn) < count:
            self._drawn.extend(self._traffic.take(DRAW)[0])
        # Millions of messages without a cycle: looking for one would stop the sending.
        gc.freeze()

    def _run(self, rate: float, seconds: float) -> None:
        base, began = self._sent, time.time()
        self._handed.append((began, base))
        while (now := time.time()) < began + seconds:
            self._send(base + int((now - began) * rate) - self._sent)
            time.sleep(TICK_S)
        self._producer.flush(30)
        self._handed.append((time.time(), self._sent))

    def _send(self, due: int) -> None:
        while due > 0:
            self._draw(1)
            messages = [self._drawn.popleft() for _ in range(min(due, 1_000, len(self._drawn)))]
            # Before the call, not after: the time in it is part of the latency.
            at = time.time()
            taken = self._hand_over(messages)
            self._sent += taken
            due -= taken
            self._handed.append((at, self._sent))

    def _hand_over(self, messages: list[Any]) -> int:
        taken: int = self._producer.produce_batch(self._topic, messages)
        self._producer.poll(0)
        if taken < len(messages):
            # The queue is full. What was not taken is marked, and comes first the next time.
            refused = [message for message in messages if message.pop("_error", None)]
            self._drawn.extendleft(reversed(refused))
            self._producer.poll(0.01)
        return taken

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
