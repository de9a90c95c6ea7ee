"""Producers that go on through every crash and note in the ledger what was acknowledged."""

from __future__ import annotations

import itertools
import threading
import time
from abc import ABC, abstractmethod

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tools import wire
from tools.durability.ledger import Identity, Lane, Ledger, key_of, payload
from tools.durability.topic import LoadedTopic

_ERROR_NONE = 0


class Load(ABC, threading.Thread):
    """One producer on one topic, in a thread of its own until told to stop."""

    def __init__(self, name: str, topic: LoadedTopic, ledger: Ledger) -> None:
        threading.Thread.__init__(self, name=name, daemon=True)
        self.topic = topic
        self.ledger = ledger
        self.stopping = threading.Event()

    def lane(self, partition: int) -> Lane:
        return Lane(self.name, self.topic.name, partition)

    def next_record(self, lane: Lane) -> tuple[int, bytes, bytes]:
        number = self.ledger.send(lane)
        key = key_of(Identity(lane.producer, number))
        return number, key, payload(lane, number, self.topic.record_bytes)

    @abstractmethod
    def run(self) -> None: ...


class StreamLoad(Load):
    """librdkafka with idempotence: many records in flight, its own retries."""

    def __init__(
        self, name: str, topic: LoadedTopic, ledger: Ledger, bootstrap: str, rate: int
    ) -> None:
        super().__init__(name, topic, ledger)
        self._rate = rate
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 2,
                # A crash is over in seconds: a record that times out locally would hide a loss.
                "message.timeout.ms": 300_000,
                "request.timeout.ms": 5_000,
                "retry.backoff.ms": 20,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 100,
                "queue.buffering.max.messages": 20_000,
                "topic.metadata.refresh.interval.ms": 2_000,
                "error_cb": self._on_error,
                "log_level": 0,
            }
        )

    def run(self) -> None:
        partitions = itertools.cycle(range(self.topic.partitions))
        # Two hundred short bursts a second, whatever the rate.
        burst = max(1, self._rate // 200)
        while not self.stopping.is_set():
            for _ in range(burst):
                self._send(self.lane(next(partitions)))
            self._producer.poll(0.005)

    def drain(self, timeout: float) -> int:
        """Wait for every record in flight; what is left was neither refused nor confirmed."""
        return int(self._producer.flush(timeout))

    def _send(self, lane: Lane) -> None:
        if len(self._producer) > 15_000:
            return
        number, key, value = self.next_record(lane)

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                offset = message.offset()
                self.ledger.acknowledge(lane, number, -1 if offset is None else offset)
            else:
                self.ledger.fail(error.name())

        try:
            self._producer.produce(
                lane.topic, value, key, partition=lane.partition, on_delivery=delivered
            )
        except (BufferError, KafkaException) as error:
            self.ledger.fail(type(error).__name__)

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal():
            self.ledger.stop(f"{self.name}: {error.str()}")
            self.stopping.set()


class StepLoad(Load):
    """One record at a time on a plain socket, without retries: each number is tried once."""

    def __init__(self, name: str, topic: LoadedTopic, ledger: Ledger, port: int) -> None:
        super().__init__(name, topic, ledger)
        self._port = port

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                with wire.Connection(self._port, timeout=10.0) as connection:
                    self._step_until_failure(connection)
            except OSError as error:
                self.ledger.fail(type(error).__name__)
                time.sleep(0.01)

    def _step_until_failure(self, connection: wire.Connection) -> None:
        for partition in itertools.cycle(range(self.topic.partitions)):
            if self.stopping.is_set():
                return
            lane = self.lane(partition)
            number, key, value = self.next_record(lane)
            batch = wire.encode_batch([value], int(time.time() * 1000), key)
            body = wire.produce_body(self.topic.name, partition, batch)
            answer = wire.decode_produced(connection.call(wire.PRODUCE, body))
            if answer.error == _ERROR_NONE:
                self.ledger.acknowledge(lane, number, answer.base_offset)
            else:
                self.ledger.fail(f"error code {answer.error}")
            time.sleep(0.002)
