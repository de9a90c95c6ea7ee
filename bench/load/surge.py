"""Load process: a producer that sends more than its quota allows, and hears how long to wait.

It is ready once it is made to wait: the first seconds of a quota are for nothing, here and on
Apache Kafka.
"""

from __future__ import annotations

import time
from statistics import median

from confluent_kafka import KafkaError, Producer

from bench.load.child import Spec, say_ready, serve

VALUE_BYTES = 1024


def surge(spec: Spec) -> Spec:
    waits_s: list[float] = []
    acknowledged = 0

    def on_delivery(error: KafkaError | None, _: object) -> None:
        nonlocal acknowledged
        acknowledged += error is None

    producer = Producer(
        {
            "bootstrap.servers": spec["bootstrap"],
            "client.id": spec["client_id"],
            "acks": "all",
            "linger.ms": 5,
            "queue.buffering.max.kbytes": 64 * 1024,
            "log_level": 3,
            "throttle_cb": lambda event: waits_s.append(event.throttle_time),
        }
    )
    value = b"x" * VALUE_BYTES
    began = time.perf_counter()
    sent = 0
    until = 0.0
    while not until or time.perf_counter() < until:
        due = int((time.perf_counter() - began) * spec["rate_bytes"] / VALUE_BYTES)
        for _ in range(due - sent):
            try:
                producer.produce(spec["topic"], value, on_delivery=on_delivery)
            except BufferError:
                break
        # What finds no room is not sent later: the surge is as high as it is.
        sent = due
        producer.poll(0.01)
        if waits_s and not until:
            until = time.perf_counter() + spec["seconds"]
            say_ready()
    rate = acknowledged * VALUE_BYTES / (time.perf_counter() - began)
    producer.purge()
    producer.flush(1)
    return {"wait_ms": median(waits_s or [0.0]) * 1_000, "rate_bytes": rate}


if __name__ == "__main__":
    serve(surge)
