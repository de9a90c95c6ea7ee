"""Load process: read a topic from its start with librdkafka, as fast as it comes."""

from __future__ import annotations

import gc
import time

from confluent_kafka import Consumer, TopicPartition

from bench.load.child import Spec, serve

BATCH = 10_000


def consume(spec: Spec) -> Spec:
    consumer = Consumer(
        {
            "bootstrap.servers": spec["bootstrap"],
            "group.id": "bench",
            "enable.auto.commit": False,
            "queued.min.messages": 200_000,
            # With its queue full the library does not ask again for a whole second, whatever the
            # broker: that pause was most of what used to be measured.
            "fetch.queue.backoff.ms": 5,
            "log_level": 3,
        }
        | spec.get("client", {})
    )
    # A message holds no cycles: looking for them would be the client's cost, not the broker's.
    gc.disable()
    topic, partitions = spec["topic"], range(spec["partitions"])
    # Finding the broker and the topic is not what is measured.
    consumer.list_topics(topic, timeout=30)
    began = time.perf_counter()
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    records = size = 0
    while records < spec["count"]:
        messages = consumer.consume(BATCH, timeout=1.0)
        for message in messages:
            if message.error() is None:
                records += 1
                size += len(message)
    elapsed = time.perf_counter() - began
    cpu = time.process_time()
    consumer.close()
    return {"seconds": elapsed, "records": records, "bytes": size, "client_cpu_seconds": cpu}


if __name__ == "__main__":
    serve(consume)
