"""confluent-kafka (librdkafka) behind the suite's client interface."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from penstock.model.error import ErrorCode
from tests.conformance.clients.record import (
    CODECS,
    PATIENCE_SECONDS,
    BrokerError,
    Receipt,
    Record,
)


def as_broker_error(error: KafkaError) -> BrokerError:
    return BrokerError(error.code(), error.str())


class ConfluentClient:
    name = "confluent-kafka"
    codecs = CODECS

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap = {"bootstrap.servers": bootstrap_servers}

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
        largest_bytes: int = 1_000_000,
        linger_ms: int = 5,
    ) -> list[Receipt]:
        settings: dict[str, Any] = {
            "acks": acks,
            "compression.type": codec,
            "enable.idempotence": idempotent,
            "message.max.bytes": largest_bytes,
            "linger.ms": linger_ms,
        }
        if not idempotent:
            settings["retries"] = 0
        producer = Producer(self._bootstrap | settings)
        outcomes: list[tuple[KafkaError | None, Message]] = []
        for record in records:
            extra = {} if record.timestamp is None else {"timestamp": record.timestamp}
            producer.produce(
                topic,
                value=record.value,
                key=record.key,
                partition=record.partition,
                headers=list(record.headers) or None,
                on_delivery=lambda error, message: outcomes.append((error, message)),
                **extra,
            )
            producer.poll(0)
        assert producer.flush(PATIENCE_SECONDS) == 0, "records were still waiting to be sent"
        return [self._receipt(error, message) for error, message in outcomes]

    @staticmethod
    def _receipt(error: KafkaError | None, message: Message) -> Receipt:
        if error is not None:
            raise as_broker_error(error)
        kind, timestamp = message.timestamp()
        known = None if kind == TIMESTAMP_NOT_AVAILABLE else timestamp
        return Receipt(message.partition(), message.offset(), known)

    @contextmanager
    def open_reader(
        self,
        topic: str,
        *,
        partitions: Sequence[int] = (0,),
        start: int | str = "beginning",
        reset: str = "none",
        wait_ms: int = 500,
        fetch_bytes: int = 1_048_576,
        committed_only: bool = False,
    ) -> Iterator[ConfluentReader]:
        settings = {
            "group.id": "conformance-unused",
            "enable.auto.commit": False,
            "auto.offset.reset": "error" if reset == "none" else reset,
            "fetch.wait.max.ms": wait_ms,
            "fetch.message.max.bytes": fetch_bytes,
            "isolation.level": "read_committed" if committed_only else "read_uncommitted",
        }
        offset = {"beginning": OFFSET_BEGINNING, "end": OFFSET_END}.get(str(start), start)
        consumer = Consumer(self._bootstrap | settings)
        try:
            consumer.assign([TopicPartition(topic, number, offset) for number in partitions])
            yield ConfluentReader(consumer, TopicPartition(topic, partitions[0]))
        finally:
            consumer.close()

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        where = TopicPartition(topic, partition)
        with self.open_reader(topic) as reader:
            while True:
                try:
                    return reader.consumer.get_watermark_offsets(where, timeout=PATIENCE_SECONDS)
                except KafkaException as failure:
                    # A leader may be known a moment before it leads; librdkafka leaves it to us.
                    if failure.args[0].code() != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                        raise as_broker_error(failure.args[0]) from failure
                    assert time.monotonic() < deadline, "no leader in time"
                    time.sleep(0.05)

    def offset_at(self, topic: str, timestamp: int, partition: int = 0) -> int | None:
        with self.open_reader(topic) as reader:
            question = [TopicPartition(topic, partition, timestamp)]
            try:
                found = reader.consumer.offsets_for_times(question, timeout=PATIENCE_SECONDS)[0]
            except KafkaException as failure:
                raise as_broker_error(failure.args[0]) from failure
            if found.error is not None:
                raise as_broker_error(found.error)
            # librdkafka says "the end" where there is no such record.
            return None if found.offset == OFFSET_END else found.offset


class ConfluentReader:
    def __init__(self, consumer: Consumer, first: TopicPartition) -> None:
        self.consumer = consumer
        self._first = first

    def take(self, count: int, timeout: float = PATIENCE_SECONDS) -> list[Record]:
        deadline = time.monotonic() + timeout
        taken: list[Record] = []
        while len(taken) < count and time.monotonic() < deadline:
            taken += self.poll_once(count - len(taken))
        return taken

    def poll_once(self, most: int) -> list[Record]:
        # librdkafka waits for the whole number or the time: keep the time short.
        return [_record(message) for message in self.consumer.consume(most, timeout=0.1)]

    def seek(self, offset: int) -> None:
        where = TopicPartition(self._first.topic, self._first.partition, offset)
        self.consumer.seek(where)


def _record(message: Message) -> Record:
    if message.error() is not None:
        raise as_broker_error(message.error())
    kind, timestamp = message.timestamp()
    assert kind in (TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME)
    return Record(
        value=message.value(),
        key=message.key(),
        headers=tuple(message.headers() or ()),
        partition=message.partition(),
        timestamp=timestamp,
        offset=message.offset(),
        log_append_time=kind == TIMESTAMP_LOG_APPEND_TIME,
    )
