"""Load process: produce records with librdkafka as fast as the broker acknowledges them."""

from __future__ import annotations

import os
import time

from bench.load.child import Spec, serve
from bench.load.rdkafka import BatchProducer

BATCH = 1_000


def produce(spec: Spec) -> Spec:
    settings = {
        "bootstrap.servers": spec["bootstrap"],
        "acks": "all",
        "linger.ms": "5",
        "batch.num.messages": "10000",
        "queue.buffering.max.messages": "200000",
        "queue.buffering.max.kbytes": "262144",
        "message.timeout.ms": "60000",
        "log_level": "3",
    } | spec.get("client", {})
    producer = BatchProducer(spec["topic"], settings, os.urandom(spec["size"]), BATCH)
    count: int = spec["count"]
    _connect(producer)
    began = time.perf_counter()
    _stream(producer, count)
    elapsed = time.perf_counter() - began
    cpu = time.process_time()
    producer.close()
    return {"seconds": elapsed, "client_cpu_seconds": cpu}


def _connect(producer: BatchProducer) -> None:
    """One record ahead: finding the broker and the topic is not what is measured."""
    producer.send(1)
    while not producer.poll(100):
        pass


def _stream(producer: BatchProducer, count: int) -> None:
    sent = reported = 0
    while reported < count:
        taken = producer.send(count - sent) if sent < count else 0
        sent += taken
        # With the queue full or everything handed over, sleep in the library instead of spinning.
        reported += producer.poll(0 if taken else 20)


if __name__ == "__main__":
    serve(produce)
