"""Records of some partitions of the source, as rows, from where their lanes go on.

Committed records only, in the order of their offsets. It knows no group: where it goes on is told
to it, and what becomes of the rows is the lane's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import consumer_settings
from penstock.pipelines.keyed.event import Headers
from penstock.pipelines.keyed.lane import Rows

# A fetch answered for every few records would keep the broker busy with answers alone.
_GATHERING = {"fetch.min.bytes": 100_000, "fetch.wait.max.ms": 10}
_SETTINGS: dict[str, Any] = {
    **_GATHERING,
    "queued.min.messages": 50_000,
    "queued.max.messages.kbytes": 65_536,
    "auto.offset.reset": "error",
}


class Reader:
    def __init__(
        self, client: Mapping[str, Any], group: str, topic: str, starts: Mapping[int, int]
    ) -> None:
        self._topic = topic
        self._reached: dict[int, int] = {}
        self._consumer = Consumer({**consumer_settings(client, group), **_SETTINGS})
        places = [TopicPartition(topic, each, offset) for each, offset in starts.items()]
        self._consumer.assign(places)

    def read(self, rows_max: int, wait_s: float) -> dict[int, Rows]:
        """What came within the time, by partition; sooner where it is as much as may come."""
        parts: dict[int, list[Message]] = {}
        for message in self._consumer.consume(rows_max, wait_s):
            if message.error() is None:
                parts.setdefault(message.partition(), []).append(message)  # type: ignore[arg-type]
            else:
                self._on_event(message)
        for partition, messages in parts.items():
            last: Any = messages[-1].offset()
            self._reached[partition] = max(self._reached.get(partition, 0), last + 1)
        return {partition: _rows(messages) for partition, messages in parts.items()}

    def has_reached(self, ends: Mapping[int, int]) -> bool:
        """Whether all before these offsets was read, records or not: markers hold some too."""
        return all(self._reached.get(each, 0) >= end for each, end in ends.items())

    def close(self) -> None:
        self._consumer.close()

    def _on_event(self, message: Message) -> None:
        error: Any = message.error()
        if error.code() == KafkaError._PARTITION_EOF:
            partition, offset = message.partition() or 0, message.offset() or 0
            self._reached[partition] = max(self._reached.get(partition, 0), offset)
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise RunError(
                f"records of {self._topic} are gone that were not read yet (data loss):"
                f" {error.str()}; --from-group goes on where the group is set to"
            )
        elif not error.retriable() and error.code() not in _PASSING:
            raise KafkaException(error)


# The client looks after these itself, and goes on where it was.
_PASSING = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE)


def _rows(messages: list[Message]) -> Rows:
    def headers_at(index: int) -> Headers:
        found: Iterable[Any] = messages[index].headers() or []
        return list(found)

    return Rows(
        [each.key() for each in messages],
        [each.value() for each in messages],
        [each.offset() for each in messages],  # type: ignore[misc]
        [each.timestamp()[1] for each in messages],
        headers_at,
    )
