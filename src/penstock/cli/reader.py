"""Reading partitions between two places without a consumer group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from confluent_kafka import KafkaError, TopicPartition

from penstock.cli.cluster import Cluster, reason, unknown_topic
from penstock.cli.failure import Failure
from penstock.cli.position import Anchor, Position

# ListOffsets' own names for the two ends, in place of a time stamp.
_LATEST, _EARLIEST = -1, -2
_POLL_S = 0.25


class TopicReader:
    def __init__(self, cluster: Cluster, topic: str, partitions: Iterable[int]) -> None:
        self._cluster = cluster
        self._topic = topic
        self._ends: dict[int, int] = {}
        self._follow = False
        self._consumer = cluster.consumer(
            enable_partition_eof=True,
            auto_offset_reset="error",
            fetch_wait_max_ms=100,
            allow_auto_create_topics=False,
        )
        self._partitions = self._existing(list(partitions))

    def __enter__(self) -> TopicReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def _existing(self, wanted: list[int]) -> list[int]:
        with self._cluster.explaining():
            metadata = self._consumer.list_topics(self._topic, timeout=self._cluster.timeout_s)
        found = metadata.topics.get(self._topic)
        if found is None or found.error is not None or not found.partitions:
            raise unknown_topic(self._topic)
        missing = sorted(set(wanted) - set(found.partitions))
        if missing:
            raise Failure(f"{self._topic} has no partition {missing[0]}")
        return wanted or sorted(found.partitions)

    def seek(self, first: Position, last: Position | None, *, follow: bool) -> None:
        """Choose where every partition starts and where it stops."""
        self._follow = follow
        starts, ends = self._offsets(_EARLIEST), self._offsets(_LATEST)
        self._ends = self._resolve(last or Position(Anchor.end), starts, ends)
        begins = self._resolve(first, starts, ends)
        self._consumer.assign(
            [
                TopicPartition(self._topic, each, begins[each])
                for each in self._partitions
                if follow or begins[each] < self._ends[each]
            ]
        )

    def _resolve(
        self, position: Position, starts: dict[int, int], ends: dict[int, int]
    ) -> dict[int, int]:
        times = self._offsets(position.number) if position.anchor is Anchor.time else {}
        return {
            each: position.resolve(starts[each], ends[each], times.get(each))
            for each in self._partitions
        }

    def _offsets(self, timestamp: int) -> dict[int, int]:
        asked = [TopicPartition(self._topic, each, timestamp) for each in self._partitions]
        with self._cluster.explaining():
            answered = self._consumer.offsets_for_times(asked, timeout=self._cluster.timeout_s)
        for each in answered:
            if each.error is not None:
                raise Failure(f"{self._topic}-{each.partition}: {reason(each.error)}")
        return {each.partition: each.offset for each in answered}

    def read(self, count: int | None = None) -> Iterator[Any]:
        """Records up to the chosen end, at most `count`; None where it has to wait for more."""
        open_partitions = {each.partition for each in self._consumer.assignment()}
        remaining = count
        while open_partitions and remaining != 0:
            record = self._consumer.poll(_POLL_S)
            if record is None:
                yield None
            elif record.error() is not None:
                self._on_event(record, open_partitions)
                yield None
            elif self._within(record, open_partitions):
                yield record
                remaining = None if remaining is None else remaining - 1

    def _within(self, record: Any, open_partitions: set[int]) -> bool:
        if self._follow:
            return True
        partition, end = record.partition(), self._ends[record.partition()]
        if record.offset() + 1 >= end:
            open_partitions.discard(partition)
        return bool(record.offset() < end)

    def _on_event(self, record: Any, open_partitions: set[int]) -> None:
        error = record.error()
        if error.code() == KafkaError._PARTITION_EOF:
            # Compaction may have taken the record just before the end: this tells all the same.
            if not self._follow:
                open_partitions.discard(record.partition())
        elif error.code() in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN):
            if not self._follow:
                raise self._cluster.unreachable()
        else:
            raise Failure(f"{self._topic}-{record.partition()}: {reason(error)}")
