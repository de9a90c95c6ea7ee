"""What lanes tell of their partitions, as the driver reads it: with the group's offsets.

Each transaction commits its source offset for the group, and beside it what the run has come to in
that partition. So it is told exactly as often as it is done, in every mode of Spark's, and one
request asks for all partitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Consumer, KafkaException, TopicPartition

from penstock.pipelines.kafka import consumer_settings
from penstock.pipelines.keyed.state import Position

_TIMEOUT_S = 5.0


class PartitionReport(NamedTuple):
    offset: int
    """Of the next event."""
    counts: tuple[int, ...]
    """Since the run began, in the order of `LaneSpec.counted`; empty before the first."""
    waited_ms: tuple[int, int]
    """From time stamp to commit, lately: of a record in the middle, and of the oldest."""


def reports_of(positions: Mapping[int, Position], run: str) -> dict[int, PartitionReport]:
    """The same from the positions of a run, which say nothing of waiting."""
    return {
        partition: PartitionReport(each.offset, each.counts, (0, 0))
        for partition, each in positions.items()
        if each.run == run
    }


class ReportReader:
    def __init__(self, client: Mapping[str, Any], group: str, topic: str) -> None:
        self._settings = consumer_settings(client, group)
        self._topic = topic
        self._consumer: Consumer | None = None

    def read(self, run: str, count: int) -> dict[int, PartitionReport]:
        """By partition, what this run has told so far; nothing where the broker is away."""
        if self._consumer is None:
            # Without waiting for what is under way: there is always something.
            self._consumer = Consumer({**self._settings, "isolation.level": "read_uncommitted"})
        return self._ask(self._consumer, run, count)

    def read_last(self, run: str, count: int) -> dict[int, PartitionReport]:
        """The same after the last transaction, once all of them have taken effect."""
        consumer = Consumer(self._settings)
        try:
            return self._ask(consumer, run, count)
        finally:
            consumer.close()

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _ask(self, consumer: Consumer, run: str, count: int) -> dict[int, PartitionReport]:
        places = [TopicPartition(self._topic, each) for each in range(count)]
        try:
            answers = consumer.committed(places, timeout=_TIMEOUT_S)
        except KafkaException:
            return {}
        found = {each.partition: _report(each, run) for each in answers if each.error is None}
        return {each: report for each, report in found.items() if report is not None}


def _report(place: TopicPartition, run: str) -> PartitionReport | None:
    try:
        said = orjson.loads(place.metadata or b"")
        if said["run"] != run:
            return None
        middle, longest = said["waited_ms"]
        return PartitionReport(place.offset, tuple(said["counts"]), (middle, longest))
    except (ValueError, KeyError, TypeError):
        return None  # somebody else has moved the group
