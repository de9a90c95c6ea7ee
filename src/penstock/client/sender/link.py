"""A sender's producer: partitions chosen, records handed over, reports and figures received."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from penstock.client.error import DeliveryError
from penstock.client.lasting_producer import LastingProducer
from penstock.client.record import Delivery
from penstock.client.sender.metric import Counts
from penstock.client.sender.partitioner import LIBRDKAFKA_NAMES, Partitioner, chooser_of
from penstock.client.sender.record import UnderWay

DEFECTS = (
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_RECORD,
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_TIMESTAMP,
    KafkaError.POLICY_VIOLATION,
    KafkaError.TOPIC_EXCEPTION,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
)
"""What is wrong with the record, or its topic: to wait does not help."""
_STATISTICS_MS = 1000
_PARTITIONS_S = 60.0
_METADATA_TIMEOUT_S = 5.0
_ABANDON_S = 10.0

Report = Callable[[UnderWay, Any, Any], None]


class Link:
    def __init__(
        self,
        settings: dict[str, Any],
        timeout_ms: int,
        partitioner: Partitioner,
        counts: Counts,
    ) -> None:
        """`timeout_ms` 0: a record is tried for ever, and what was under way when the producer
        failed is sent again by whoever called; no later record may overtake it."""
        self._choose = chooser_of(partitioner)
        self._counts = counts
        self._sizes: dict[str, tuple[int, float]] = {}
        own = {
            "enable.idempotence": True,
            "compression.type": "lz4",
            "linger.ms": 5,
            "reconnect.backoff.max.ms": 1000,
            # The broker decides what is too large, by its own or its topic's max.message.bytes.
            "message.max.bytes": 100_000_000,
            "message.timeout.ms": timeout_ms,
            "statistics.interval.ms": _STATISTICS_MS,
        }
        if isinstance(partitioner, str) and partitioner in LIBRDKAFKA_NAMES:
            own["partitioner"] = LIBRDKAFKA_NAMES[partitioner]
        self._producer = LastingProducer(
            own | settings | {"stats_cb": self._on_statistics},
            "penstock-sender",
            succeeds=timeout_ms > 0,
        )

    def __len__(self) -> int:
        return len(self._producer)

    def produce(self, under_way: UnderWay, report: Report) -> None:
        """Raises KafkaException or BufferError where it is not taken."""
        record = under_way.record
        partition = record.partition
        if partition < 0 and self._choose is not None:
            size = self._partitions(record.topic)
            partition = self._choose(record.topic, record.key, size, time.monotonic() * 1000)
        self._producer.produce(
            record.topic,
            lambda error, message: report(under_way, error, message),
            key=record.key,
            value=record.value,
            headers=record.headers,
            partition=partition,
            timestamp=record.timestamp_ms,
        )

    def _partitions(self, topic: str) -> int:
        size, until = self._sizes.get(topic, (0, 0.0))
        if time.monotonic() >= until:
            size = self._producer.partitions(topic, _METADATA_TIMEOUT_S)
            self._sizes[topic] = (size, time.monotonic() + _PARTITIONS_S)
        return size

    def acknowledged(self, under_way: UnderWay, message: Any) -> None:
        self._counts.took(time.perf_counter() - under_way.since)
        place = (message.topic(), message.partition(), message.offset())
        under_way.future.set_result(Delivery(*place, message.timestamp()[1]))

    def failed(self, under_way: UnderWay, error: Any) -> None:
        self._counts.failed += 1
        under_way.future.set_exception(DeliveryError(f"{under_way.record.topic}: {error.str()}"))

    def abandon(self) -> None:
        self._producer.abandon(_ABANDON_S)

    def close(self, timeout_s: float) -> None:
        self._producer.close(timeout_s)

    def _on_statistics(self, text: str) -> None:
        self._counts.heard(json.loads(text))


def cause_of(error: KafkaException | BufferError) -> Any:
    """As a KafkaError."""
    return (
        error.args[0] if isinstance(error, KafkaException) else KafkaError(KafkaError._QUEUE_FULL)
    )
