"""Which dead letters were sent back: kept as committed offsets of the group `<topic>.redrive`.

The committed offset of a partition says that all letters before it were sent. Letters sent out of
order, because of a filter, are in the commit's metadata as ranges. Both are committed in the
transaction that sends the letters, so they agree with what was sent whatever happens. Kafka bounds
that metadata to 4,096 bytes: a choice too scattered for it is refused before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from penstock.client.offset_ranges import decode_ranges, encode_ranges
from penstock.client.patience import NO_COORDINATOR_YET, patiently

GROUP_SUFFIX = ".redrive"


class Ledger:
    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.group_metadata: Any = None
        """Of no member: the transactional id alone keeps two runs apart."""
        self._positions: dict[int, int] = {}
        self._beyond: dict[int, set[int]] = {}
        self._halted: set[int] = set()
        """Partitions where a letter was left behind: the position waits there for it."""

    @property
    def group(self) -> str:
        return self.topic + GROUP_SUFFIX

    @classmethod
    def read(
        cls, client: Mapping[str, Any], topic: str, partitions: Iterable[int], timeout_s: float
    ) -> Ledger:
        ledger = cls(topic)
        # read_committed: the answer waits for a transaction that still holds such an offset.
        own = {"group.id": ledger.group, "isolation.level": "read_committed"}
        consumer = Consumer(dict(client) | own | {"enable.auto.commit": False})
        try:
            asked = [TopicPartition(topic, each) for each in partitions]
            places = patiently(
                lambda: consumer.committed(asked, timeout=timeout_s), NO_COORDINATOR_YET, timeout_s
            )
            for place in places:
                ledger._load(place)
            ledger.group_metadata = consumer.consumer_group_metadata()
        finally:
            consumer.close()
        return ledger

    def _load(self, place: Any) -> None:
        # Without an answer for a partition its letters would all count as unsent.
        if place.error is not None:
            raise KafkaException(place.error)
        if place.offset >= 0:
            self._positions[place.partition] = place.offset
            self._beyond[place.partition] = decode_ranges(place.metadata or "", place.offset)

    def holds(self, partition: int, offset: int) -> bool:
        before = offset < self._positions.get(partition, 0)
        return before or offset in self._beyond.get(partition, ())

    def position(self, partition: int) -> int:
        """All letters before it went; the walk over a partition begins here."""
        return self._positions.get(partition, 0)

    def passed(self, partition: int, offset: int, *, sent: bool) -> None:
        """The walk came by this letter; it has to come by all of them, in order."""
        beyond = self._beyond.setdefault(partition, set())
        if partition in self._halted:
            if sent:
                beyond.add(offset)
        elif sent:
            self._positions[partition] = offset + 1
            beyond.discard(offset)
        else:
            self._halted.add(partition)
            self._positions[partition] = offset

    def commits(self, partitions: Iterable[int]) -> list[TopicPartition]:
        """What to commit with the transaction."""
        return [
            TopicPartition(
                self.topic,
                each,
                self._positions.get(each, 0),
                encode_ranges(self._beyond.get(each, set()), self._positions.get(each, 0)),
            )
            for each in sorted(set(partitions))
        ]
