"""Load process: one record at a time, to its acknowledgement or to its arrival at a consumer."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from bench.load.child import Spec, serve

VALUE = b"x" * 100


class Pair:
    """A producer and a consumer on one partition, used in lock step."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        shared = {"bootstrap.servers": bootstrap, "log_level": 3}
        self._topic = topic
        self._producer = Producer(shared | {"acks": "all", "linger.ms": 0})
        self._consumer = Consumer(shared | {"group.id": "bench", "enable.auto.commit": False})
        self._acknowledged = 0

    def follow(self) -> None:
        """Let the consumer wait at the end of the partition."""
        self._consumer.assign([TopicPartition(self._topic, 0, 0)])

    def close(self) -> None:
        self._producer.flush(10)
        self._consumer.close()

    def send_and_wait(self) -> None:
        """Return when the record is acknowledged."""
        before = self._acknowledged
        self._producer.produce(self._topic, VALUE, partition=0, on_delivery=self._on_delivery)
        while self._acknowledged == before:
            self._producer.poll(1.0)

    def send_and_receive(self) -> None:
        """Return when the record has reached the consumer."""
        self._producer.produce(self._topic, VALUE, partition=0, on_delivery=self._on_delivery)
        while True:
            message = self._consumer.poll(1.0)
            if message is not None and message.error() is None:
                break
        self._producer.poll(0)

    def _on_delivery(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            raise RuntimeError(error.str())
        self._acknowledged += 1


def latency(spec: Spec) -> Spec:
    pair = Pair(spec["bootstrap"], spec["topic"])
    gc.disable()
    step = pair.send_and_wait
    if spec["kind"] == "consumed":
        pair.follow()
        step = pair.send_and_receive
    pause_s = spec.get("pause_s", 0.0)
    _time(step, spec["warmup"], pause_s)
    times = sorted(_time(step, spec["count"], pause_s))
    pair.close()
    return {"p50_ms": _percentile(times, 0.5), "p99_ms": _percentile(times, 0.99)}


def _time(step: Callable[[], None], count: int, pause_s: float = 0.0) -> list[float]:
    times = []
    for _ in range(count):
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
        if pause_s:
            time.sleep(pause_s)
    return times


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1_000


if __name__ == "__main__":
    serve(latency)
