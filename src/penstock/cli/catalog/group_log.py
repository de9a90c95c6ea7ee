"""Reads `__consumer_offsets` from where the catalog stands, as it grows.

It owns the consumer and the positions. Only what was committed is read: offsets of transactions
that are open or aborted never come. The consumer and its library are there from the first read on:
a catalog that is up to date does without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.cli.cluster import Cluster, reason
from penstock.cli.failure import Failure
from penstock.cli.leader_call import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    Leaders,
    Place,
    list_offsets,
)
from penstock.cli.operator.link import Link

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError

TOPIC: Final = "__consumer_offsets"
_RECORDS: Final = 5_000


class GroupLog:
    def __init__(self, cluster: Cluster, positions: Mapping[int, int]) -> None:
        self._cluster = cluster
        self._consumer: Consumer | None = None
        self.positions = dict(positions)
        self._starts: dict[Place, int] = {}
        """Of all partitions that are read, or will be with the next read."""
        self._assigned: set[Place] = set()
        self._behind: dict[int, int] = {}
        """Partitions that are not read up to where they ended when they were found."""

    @property
    def at_end(self) -> bool:
        """Whether all has been read that was there."""
        return not self._behind

    def assign(self, link: Link, leaders: Leaders) -> None:
        """What is not read yet; from the position that is known, or the beginning."""
        new = [place for place in leaders.places(TOPIC) if place not in self._starts]
        if not new:
            return
        lows = list_offsets(link, leaders, new, EARLIEST)
        highs = list_offsets(link, leaders, new, LATEST, READ_COMMITTED)
        for place in [each for each in new if each in lows and each in highs]:
            start = self.positions.get(place[1], lows[place])
            if not lows[place] <= start <= highs[place]:
                raise LogChanged(f"{TOPIC}-{place[1]} no longer has offset {start}")
            if start < highs[place]:
                self._behind[place[1]] = highs[place]
            self._starts[place] = start

    def read(self, apply: Callable[[bytes, bytes | None], None], wait_s: float) -> int:
        """How many records there were, each given to `apply`."""
        count = 0
        messages: list[Any] = self._reading().consume(_RECORDS, wait_s)
        for message in messages:
            if message.error() is not None:
                self._on_event(message)
                continue
            key = message.key()
            if key is not None:
                apply(key, message.value())
            self._reach(message.partition(), message.offset() + 1)
            count += 1
        return count

    def _reach(self, partition: int, position: int) -> None:
        """The library tells of an end only after a fetch that has waited there in vain."""
        self.positions[partition] = position
        if position >= self._behind.get(partition, position + 1):
            del self._behind[partition]

    def _reading(self) -> Consumer:
        """A consumer of all that is to be read."""
        from confluent_kafka import TopicPartition

        if self._consumer is None:
            self._consumer = self._cluster.consumer(
                enable_partition_eof=True,
                auto_offset_reset="error",
                isolation_level="read_committed",
                allow_auto_create_topics=False,
            )
        new = self._starts.keys() - self._assigned
        if new:
            starts = [TopicPartition(*place, self._starts[place]) for place in sorted(new)]
            self._consumer.incremental_assign(starts)
            self._assigned |= new
        return self._consumer

    def _on_event(self, message: Any) -> None:
        from confluent_kafka import KafkaError

        error = message.error()
        if error.code() == KafkaError._PARTITION_EOF:
            # Behind the last record may be markers of transactions, which nobody is given.
            self.positions[message.partition()] = message.offset()
            self._behind.pop(message.partition(), None)
        elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise LogChanged(reason(error))
        elif not _passes(error):
            raise Failure(f"{TOPIC}: {reason(error)}")

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()


def _passes(error: KafkaError) -> bool:
    from confluent_kafka import KafkaError

    return error.code() in (
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError._RESOLVE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
    )


class LogChanged(Failure):
    """The log has no longer what comes next: it has to be read from its beginning."""
