"""Reading a topic from its beginning to its present end, without a group and without Spark.

It owns the assignment and the knowledge of when the end is reached; what records mean is not its
business. Transactions still open are left out, together with what follows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

_BATCH = 10_000
_PATIENCE_S = 0.25
_STUCK_POLLS = 240
"""So many empty polls in a row, and the broker is not coming back."""


class UnreadableError(Exception):
    """The topic cannot be read; the message says why."""


class Scan:
    """`starts` holds the first offset wanted of a partition; without one it is the log's own."""

    def __init__(
        self,
        client: Mapping[str, Any],
        topic: str,
        *,
        partitions: Iterable[int] = (),
        starts: Mapping[int, int] | None = None,
        isolation: str = "read_committed",
        timeout_s: float = 10.0,
    ) -> None:
        self.topic = topic
        self._timeout_s = timeout_s
        own = {"group.id": "penstock-scan", "enable.auto.commit": False}
        own |= {"enable.partition.eof": True, "isolation.level": isolation}
        own |= {"auto.offset.reset": "earliest", "fetch.wait.max.ms": 100}
        own |= {"fetch.queue.backoff.ms": 20}
        # A message costs the library some 200 bytes more than its value: bound what waits.
        own |= {"queued.max.messages.kbytes": 32_768}
        self._consumer = Consumer(dict(client) | own)
        try:
            self.partitions = list(partitions) or self._all_partitions()
            self.begins, self.ends = self._range(starts or {})
        except BaseException:
            self._consumer.close()
            raise

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def __len__(self) -> int:
        """How many offsets lie between the ends: an upper bound of the records."""
        return sum(self.ends[each] - self.begins[each] for each in self.partitions)

    def _all_partitions(self) -> list[int]:
        found = self._consumer.list_topics(self.topic, timeout=self._timeout_s).topics[self.topic]
        if found.error is not None or not found.partitions:
            raise UnreadableError(f"there is no topic {self.topic}")
        return sorted(found.partitions)

    def _range(self, starts: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
        begins, ends = {}, {}
        for each in self.partitions:
            place = TopicPartition(self.topic, each)
            low, high = self._consumer.get_watermark_offsets(place, timeout=self._timeout_s)
            begins[each] = min(max(low, starts.get(each, low)), high)
            ends[each] = high
        return begins, ends

    def batches(self) -> Iterator[list[Any]]:
        """All partitions at once: in order within each, in no order between them."""
        return self._read({each for each in self.partitions if self.begins[each] < self.ends[each]})

    def records(self) -> Iterator[Any]:
        """One partition after the other, so that two scans of a topic agree on the order."""
        for each in self.partitions:
            if self.begins[each] < self.ends[each]:
                for batch in self._read({each}):
                    yield from batch

    def _read(self, open_partitions: set[int]) -> Iterator[list[Any]]:
        """Until each has reached the end taken at the start; nothing at or past that end."""
        self._consumer.assign(
            [TopicPartition(self.topic, each, self.begins[each]) for each in open_partitions]
        )
        empty = 0
        while open_partitions:
            messages = self._consumer.consume(_BATCH, _PATIENCE_S)
            empty = 0 if messages else empty + 1
            if empty > _STUCK_POLLS:
                raise UnreadableError(f"{self.topic} stopped answering")
            found = [one for one in messages if self._counts(one, open_partitions)]
            if found:
                yield found

    def _counts(self, message: Any, open_partitions: set[int]) -> bool:
        error = message.error()
        if error is not None:
            return self._on_event(message, error, open_partitions)
        partition, end = message.partition(), self.ends[message.partition()]
        offset = message.offset()
        if offset + 1 >= end:
            open_partitions.discard(partition)
        return bool(offset < end)

    def _on_event(self, message: Any, error: Any, open_partitions: set[int]) -> bool:
        if error.code() == KafkaError._PARTITION_EOF:
            # The last offsets may be markers of transactions: only this tells of the end then.
            open_partitions.discard(message.partition())
        elif not error.retriable() and error.code() not in _PASSING:
            raise KafkaException(error)
        return False


_PASSING = {
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TIMED_OUT,
    KafkaError._RESOLVE,
}
