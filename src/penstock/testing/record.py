"""Records in and out of a broker under test, as plain bytes and without a consumer group."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.client.patience import NO_LEADER_YET, patiently

Content = str | bytes | None
Outgoing = Content | tuple[Content, Content]
"""A value, or a key and a value."""

_LATEST, _EARLIEST = -1, -2
_log = logging.getLogger("penstock.testing")


@dataclass(frozen=True, slots=True)
class Record:
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)


def create_topic(
    servers: str,
    name: str,
    partitions: int,
    settings: Mapping[str, str],
    timeout_s: float,
    replication_factor: int = -1,
) -> None:
    admin = AdminClient({"bootstrap.servers": servers}, logger=_log)
    topic = NewTopic(
        name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        config=dict(settings),
    )
    admin.create_topics([topic], operation_timeout=timeout_s)[name].result(timeout_s)


def produce_records(
    servers: str,
    topic: str,
    values: Content | Iterable[Outgoing],
    *,
    key: Content = None,
    partition: int | None = None,
    headers: Sequence[tuple[str, bytes | None]] = (),
    timestamp_ms: int | None = None,
    timeout_s: float = 30.0,
    settings: Mapping[str, Any] | None = None,
) -> list[Record]:
    """Send and wait; the records as they stand in the log, in the order given."""
    if values is None or isinstance(values, str | bytes):
        values = [values]
    own = {
        "bootstrap.servers": servers,
        "acks": "all",
        "linger.ms": 0,
        "message.timeout.ms": int(timeout_s * 1000),
    }
    producer = Producer(own | dict(settings or {}), logger=_log)
    reports: list[Any] = []
    for number, each in enumerate(values):
        reports.append(None)
        own_key, value = each if isinstance(each, tuple) else (key, each)
        producer.produce(
            topic,
            key=own_key,
            value=value,
            headers=list(headers),
            partition=-1 if partition is None else partition,
            timestamp=timestamp_ms or 0,
            on_delivery=_collect(reports, number),
        )
        producer.poll(0)
    producer.flush(timeout_s + 1)
    return [_delivered(each, list(headers)) for each in reports]


def _collect(reports: list[Any], number: int) -> Any:
    def settle(error: Any, message: Any) -> None:
        reports[number] = (error, message)

    return settle


def _delivered(report: Any, headers: list[tuple[str, bytes | None]]) -> Record:
    if report is None:
        raise TimeoutError("a record was not acknowledged in time")
    error, message = report
    if error is not None:
        raise KafkaException(error)
    # A delivery report carries no headers.
    return replace(_record(message), headers=headers)


def read_records(
    servers: str,
    topic: str,
    *,
    partition: int | None = None,
    start: int = 0,
    count: int | None = None,
    timeout_s: float = 30.0,
    settings: Mapping[str, Any] | None = None,
) -> list[Record]:
    """All up to the end as it is now, or wait for `count`; by partition, then by offset."""
    own = {
        "bootstrap.servers": servers,
        "group.id": "penstock-testing",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 50,
    }
    consumer = Consumer(own | dict(settings or {}), logger=_log)
    try:
        reader = _Reader(consumer, topic, partition, start, time.monotonic() + timeout_s)
        return reader.read(count)
    finally:
        consumer.close()


class _Reader:
    def __init__(
        self, consumer: Any, topic: str, partition: int | None, start: int, deadline: float
    ) -> None:
        self._consumer = consumer
        self._deadline = deadline
        self._records: list[Record] = []
        self._open: set[int] = set()
        names = self._partitions(topic) if partition is None else [partition]
        self._assign(topic, names, start)

    def _partitions(self, topic: str) -> list[int]:
        metadata = self._consumer.list_topics(topic, timeout=self._remaining_s())
        if metadata.topics[topic].error is not None:
            raise KafkaException(metadata.topics[topic].error)
        return sorted(metadata.topics[topic].partitions)

    def _assign(self, topic: str, partitions: list[int], start: int) -> None:
        begins = [TopicPartition(topic, each, start) for each in partitions]
        asked = [TopicPartition(topic, each, _EARLIEST) for each in partitions]
        for begin, first in zip(begins, self._offsets(asked), strict=True):
            begin.offset = max(start, first.offset)
        self._open = set(partitions)
        self._consumer.assign(begins)

    def _offsets(self, asked: list[TopicPartition]) -> list[TopicPartition]:
        answered = patiently(lambda: self._ask(asked), NO_LEADER_YET, self._remaining_s())
        return sorted(answered, key=lambda each: int(each.partition))

    def _ask(self, asked: list[TopicPartition]) -> list[TopicPartition]:
        answered: list[TopicPartition] = self._consumer.offsets_for_times(
            asked, timeout=self._remaining_s()
        )
        for each in answered:
            if each.error is not None:
                raise KafkaException(each.error)
        return answered

    def read(self, count: int | None) -> list[Record]:
        while len(self._records) < count if count is not None else self._open:
            message = self._consumer.poll(self._remaining_s())
            if message is None:
                wanted = "the end" if count is None else f"{count} records"
                raise TimeoutError(f"read {len(self._records)} records, but not {wanted}")
            self._take(message)
        return sorted(self._records, key=lambda each: (each.partition, each.offset))

    def _take(self, message: Any) -> None:
        if message.error() is None:
            self._records.append(_record(message))
        elif message.error().code() == KafkaError._PARTITION_EOF:
            self._open.discard(message.partition())
        else:
            raise KafkaException(message.error())

    def _remaining_s(self) -> float:
        return max(0.0, self._deadline - time.monotonic())


def _record(message: Any) -> Record:
    return Record(
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        timestamp_ms=message.timestamp()[1],
        key=message.key(),
        value=message.value(),
        headers=message.headers() or [],
    )
