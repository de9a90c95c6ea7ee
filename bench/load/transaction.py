"""Load process: copy a topic with librdkafka, a hundred records and their offsets a transaction."""

from __future__ import annotations

import gc
import time

from confluent_kafka import Consumer, Message, Producer

from bench.load.child import Spec, serve

TIMEOUT_S = 60.0


class Copier:
    def __init__(self, spec: Spec) -> None:
        shared = {"bootstrap.servers": spec["bootstrap"], "log_level": 3}
        self._target: str = spec["target"]
        self._size: int = spec["size"]
        self._producer = Producer(
            shared | {"transactional.id": spec["transactional_id"], "linger.ms": 0}
        )
        self._consumer = Consumer(
            shared
            | {
                "group.id": spec["transactional_id"],
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
            }
        )
        self._producer.init_transactions(TIMEOUT_S)
        self._consumer.subscribe([spec["source"]])

    def copy(self) -> float:
        """One transaction; the seconds that its commit took."""
        messages = self._read()
        self._producer.begin_transaction()
        for message in messages:
            self._producer.produce(self._target, message.value())
        if self._producer.flush(TIMEOUT_S):
            raise RuntimeError("records were not acknowledged in time")
        place = self._consumer.position(self._consumer.assignment())
        metadata = self._consumer.consumer_group_metadata()
        self._producer.send_offsets_to_transaction(place, metadata, TIMEOUT_S)
        began = time.perf_counter()
        self._producer.commit_transaction(TIMEOUT_S)
        return time.perf_counter() - began

    def close(self) -> None:
        self._consumer.close()

    def _read(self) -> list[Message]:
        messages: list[Message] = []
        while len(messages) < self._size:
            for message in self._consumer.consume(self._size - len(messages), timeout=1.0):
                if message.error() is None:
                    messages.append(message)
        return messages


def transaction(spec: Spec) -> Spec:
    copier = Copier(spec)
    gc.disable()
    for _ in range(spec["warmup"]):
        copier.copy()
    began = time.perf_counter()
    commits = sorted(copier.copy() for _ in range(spec["count"]))
    elapsed = time.perf_counter() - began
    copier.close()
    return {
        "records_per_s": spec["count"] * spec["size"] / elapsed,
        "p50_ms": 1e3 * commits[len(commits) // 2],
        "p99_ms": 1e3 * commits[int(len(commits) * 0.99)],
    }


if __name__ == "__main__":
    serve(transaction)
