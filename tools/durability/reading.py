"""Reads whole partitions back through librdkafka, with every checksum verified."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from tools.durability.checker import Found, Reading


class UnreadableError(RuntimeError):
    """A partition could not be read to its end."""


def read_topic(
    bootstrap: str, topic: str, partitions: int, timeout: float = 120.0
) -> list[Reading]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "crash-check",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "check.crcs": True,
            "fetch.wait.max.ms": 20,
            "log_level": 0,
        }
    )
    try:
        return [_read(consumer, topic, partition, timeout) for partition in range(partitions)]
    finally:
        consumer.close()


def is_cleaned(bootstrap: str, topic: str, partitions: int) -> bool:
    """Whether retention or compaction has taken anything from the topic yet."""
    for reading in read_topic(bootstrap, topic, partitions):
        last = reading.records[-1].offset if reading.records else -1
        if reading.start > 0 or len(reading.records) < last + 1:
            return True
    return False


def _read(consumer: Consumer, topic: str, partition: int, timeout: float) -> Reading:
    start, end = _watermarks(consumer, TopicPartition(topic, partition))
    records: list[Found] = []
    if end > start:
        consumer.assign([TopicPartition(topic, partition, start)])
        deadline = time.monotonic() + timeout
        while not _take(consumer.consume(5_000, timeout=0.2), records):
            if time.monotonic() > deadline:
                at = records[-1].offset + 1 if records else start
                raise UnreadableError(f"{topic}-{partition}: stuck at {at} before {end}")
        consumer.unassign()
    return Reading(topic, partition, start, end, records)


def _watermarks(consumer: Consumer, where: TopicPartition) -> tuple[int, int]:
    # Right after a restart the partition may still be on its way up.
    for attempt in range(20):
        try:
            low, high = consumer.get_watermark_offsets(where, timeout=5)
            return int(low), int(high)
        except KafkaException:
            if attempt == 19:
                raise
            time.sleep(0.25)
    raise AssertionError("unreachable")


def _take(messages: Sequence[Message], into: list[Found]) -> bool:
    """Keep the records; true once the end of the partition has been reached."""
    for message in messages:
        error = message.error()
        if error is None:
            key, value = message.key(), message.value()
            into.append(Found(message.offset() or 0, _raw(key), _raw(value) or b""))
        elif error.code() == KafkaError._PARTITION_EOF:
            return True
        elif not error.retriable() and error.code() > 0:
            raise UnreadableError(f"{message.topic()}-{message.partition()}: {error.str()}")
    return False


def _raw(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
