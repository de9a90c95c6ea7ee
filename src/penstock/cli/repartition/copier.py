"""Copies records from one topic to another, once and in order per key.

Records and the place reached are committed in one transaction, so a copy that was killed goes on
where it stopped, and a second one that is started takes over from the first. Records of a partition
are written in their order by one producer; a key's records are in one partition.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    TIMESTAMP_NOT_AVAILABLE,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure
from penstock.cli.interrupt import check_interrupt
from penstock.cli.progress import Progress
from penstock.cli.repartition.key_place import LIBRDKAFKA
from penstock.client.steady import STEADY_TRANSACTIONS

_BATCH: Final = 2000
_TRANSACTION_S: Final = 1.0
_TRANSACTION_RECORDS: Final = 20_000
_WAIT_S: Final = 0.1
_TIMEOUT_S: Final = 60.0


class Copy(NamedTuple):
    source: str
    target: str
    target_partitions: int
    partitioner: str
    group: str
    transactional_id: str
    starts: Mapping[int, int] | None = None
    """Where it begins; None for the beginning."""


class Copier:
    def __init__(self, cluster: Cluster, copy: Copy) -> None:
        self._cluster = cluster
        self._copy = copy
        self.progress = Progress("copied")
        self._places: dict[int, int] = {}
        self._failed: Any = None
        self._producer = cluster.producer(
            transactional_id=copy.transactional_id,
            partitioner=LIBRDKAFKA[copy.partitioner],
            compression_type="lz4",
            linger_ms=20,
            transaction_timeout_ms=int(_TIMEOUT_S * 1000),
            message_max_bytes=100_000_000,
            **STEADY_TRANSACTIONS,
        )
        self._consumer = cluster.consumer(
            group_id=copy.group,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            enable_partition_eof=True,
            fetch_wait_max_ms=50,
        )

    def __enter__(self) -> Copier:
        with self._cluster.explaining():
            # Whoever copied before can commit nothing from here on.
            self._producer.init_transactions(_TIMEOUT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.clear()
        self._consumer.close()

    def run(self, until: Mapping[int, int]) -> None:
        """To these offsets of the source."""
        try:
            with self._cluster.explaining():
                self._places = self._committed(until)
                self._assign()
                while self._is_behind(until):
                    self._transaction(until)
        finally:
            self._consumer.unassign()

    def _committed(self, until: Mapping[int, int]) -> dict[int, int]:
        asked = [TopicPartition(self._copy.source, each) for each in sorted(until)]
        starts = self._copy.starts or {}
        found = self._consumer.committed(asked, timeout=_TIMEOUT_S)
        return {
            each.partition: each.offset if each.offset >= 0 else starts.get(each.partition, -1)
            for each in found
        }

    def _assign(self) -> None:
        self._consumer.assign(
            [
                TopicPartition(self._copy.source, each, OFFSET_BEGINNING if at < 0 else at)
                for each, at in self._places.items()
            ]
        )

    def _is_behind(self, until: Mapping[int, int]) -> bool:
        return any(self._places[each] < end for each, end in until.items())

    def _transaction(self, until: Mapping[int, int]) -> None:
        """As much as comes in a second. Nothing of it is there before all of it is."""
        self._producer.begin_transaction()
        deadline_s, records = time.monotonic() + _TRANSACTION_S, 0
        while (
            time.monotonic() < deadline_s
            and records < _TRANSACTION_RECORDS
            and self._is_behind(until)
        ):
            check_interrupt()
            for record in self._consumer.consume(_BATCH, _WAIT_S):
                records += self._take(record)
            self._producer.poll(0)
        self._producer.flush(_TIMEOUT_S)
        if self._failed is not None:
            raise KafkaException(self._failed)
        reached = [
            TopicPartition(self._copy.source, each, at)
            for each, at in self._places.items()
            if at >= 0
        ]
        if reached:
            metadata = self._consumer.consumer_group_metadata()
            self._producer.send_offsets_to_transaction(reached, metadata, _TIMEOUT_S)
        self._producer.commit_transaction(_TIMEOUT_S)
        self.progress.add(records)

    def _take(self, record: Any) -> int:
        error = record.error()
        if error is None:
            self._send(record)
            self._places[record.partition()] = record.offset() + 1
            return 1
        if error.code() == KafkaError._PARTITION_EOF:
            # Behind the last record there may be markers of transactions, which are passed over.
            self._places[record.partition()] = record.offset()
        elif error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise Failure(f"{self._copy.source} is gone")
        return 0

    def _send(self, record: Any) -> None:
        given: dict[str, Any] = {}
        kind, time_ms = record.timestamp()
        if kind != TIMESTAMP_NOT_AVAILABLE:
            given["timestamp"] = time_ms
        if record.key() is None:
            # Without a key any partition will do; those of one stay together.
            given["partition"] = record.partition() % self._copy.target_partitions
        while True:
            try:
                self._producer.produce(
                    self._copy.target,
                    record.value(),
                    record.key(),
                    headers=record.headers(),
                    on_delivery=self._delivered,
                    **given,
                )
                return
            except BufferError:
                self._producer.poll(_WAIT_S)

    def _delivered(self, error: Any, _: Any) -> None:
        if error is not None:
            self._failed = self._failed or error

    def commit_places(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Of another group, also while it has members: the broker takes that in a transaction
        alone."""
        consumer = self._cluster.consumer(group_id=group)
        try:
            with self._cluster.explaining():
                places = [TopicPartition(topic, each, at) for each, at in sorted(offsets.items())]
                self._producer.begin_transaction()
                metadata = consumer.consumer_group_metadata()
                self._producer.send_offsets_to_transaction(places, metadata, _TIMEOUT_S)
                self._producer.commit_transaction(_TIMEOUT_S)
        finally:
            consumer.close()
