"""Reads `__consumer_offsets` from where the catalog stands, as it grows.

It owns the consumer and the positions. Only what was committed is read: offsets of transactions
that are open or aborted never come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, TopicPartition

from penstock.cli.cluster import Cluster, reason
from penstock.cli.failure import Failure
from penstock.cli.leader_call import EARLIEST, LATEST, Leaders, list_offsets
from penstock.cli.operator.link import Link

TOPIC: Final = "__consumer_offsets"
_RECORDS: Final = 5_000
_PASSING: Final = (
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
)


class GroupLog:
    def __init__(self, cluster: Cluster, positions: Mapping[int, int]) -> None:
        self._consumer = cluster.consumer(
            enable_partition_eof=True,
            auto_offset_reset="error",
            isolation_level="read_committed",
            allow_auto_create_topics=False,
        )
        self.positions = dict(positions)
        self._behind: set[int] = set()

    @property
    def at_end(self) -> bool:
        """Whether all has been read that was there."""
        return not self._behind

    def assign(self, link: Link, leaders: Leaders) -> None:
        """What is not read yet; from the position that is known, or the beginning."""
        mine = {(each.topic, each.partition) for each in self._consumer.assignment()}
        new = [place for place in leaders.places(TOPIC) if place not in mine]
        if not new:
            return
        lows = list_offsets(link, leaders, new, EARLIEST)
        highs = list_offsets(link, leaders, new, LATEST)
        starts = []
        for place in [each for each in new if each in lows and each in highs]:
            start = self.positions.get(place[1], lows[place])
            if not lows[place] <= start <= highs[place]:
                raise LogChanged(f"{TOPIC}-{place[1]} no longer has offset {start}")
            if start < highs[place]:
                self._behind.add(place[1])
            starts.append(TopicPartition(*place, start))
        self._consumer.incremental_assign(starts)

    def read(self, apply: Callable[[bytes, bytes | None], None], wait_s: float) -> int:
        """How many records there were, each given to `apply`."""
        count = 0
        messages: list[Any] = self._consumer.consume(_RECORDS, wait_s)
        for message in messages:
            if message.error() is not None:
                self._on_event(message)
                continue
            key = message.key()
            if key is not None:
                apply(key, message.value())
            self.positions[message.partition()] = message.offset() + 1
            count += 1
        return count

    def _on_event(self, message: Any) -> None:
        error = message.error()
        if error.code() == KafkaError._PARTITION_EOF:
            self._behind.discard(message.partition())
        elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise LogChanged(reason(error))
        elif error.code() not in _PASSING:
            raise Failure(f"{TOPIC}: {reason(error)}")

    def close(self) -> None:
        self._consumer.close()


class LogChanged(Failure):
    """The log has no longer what comes next: it has to be read from its beginning."""
