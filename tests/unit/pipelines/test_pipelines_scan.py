"""The order of a scan, with a client that delivers the last partition first."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.pipelines import scan
from penstock.pipelines.dlq import Choice, letters

RECORDS = {0: 3, 1: 0, 2: 2, 3: 1}
"""How many each partition holds."""


@dataclass(frozen=True)
class Message:
    at: int
    number: int

    def error(self) -> None:
        return None

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return self.at

    def offset(self) -> int:
        return self.number

    def timestamp(self) -> tuple[int, int]:
        return 1, 0

    def key(self) -> None:
        return None

    value = headers = key


class LastPartitionFirst:
    """As librdkafka may do when partition 0's fetch is slow: one message a call."""

    def __init__(self, _: Any) -> None:
        self._waiting: list[Message] = []

    def list_topics(self, topic: str, timeout: float) -> Any:
        return SimpleNamespace(topics={topic: SimpleNamespace(error=None, partitions=RECORDS)})

    def get_watermark_offsets(self, place: Any, timeout: float) -> tuple[int, int]:
        return 0, RECORDS[place.partition]

    def assign(self, places: list[Any]) -> None:
        self._waiting = [
            Message(one.partition, number)
            for one in sorted(places, key=lambda one: -one.partition)
            for number in range(one.offset, RECORDS[one.partition])
        ]

    def consume(self, count: int, timeout: float) -> list[Message]:
        return [self._waiting.pop(0)]

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def last_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "Consumer", LastPartitionFirst)


def test_records_come_by_partition_and_offset() -> None:
    with scan.Scan({}, "t") as found:
        places = [(one.partition(), one.offset()) for one in found.records()]
    assert places == [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (3, 0)]


def test_batches_come_as_they_arrive() -> None:
    with scan.Scan({}, "t") as found:
        places = [(one.partition(), one.offset()) for batch in found.batches() for one in batch]
    assert places == [(3, 0), (2, 0), (2, 1), (0, 0), (0, 1), (0, 2)]


def test_letters_are_shown_by_partition_and_offset() -> None:
    shown = [(one.partition, one.offset) for one in letters({}, "t", Choice(), limit=4)]
    assert shown == [(0, 0), (0, 1), (0, 2), (2, 0)]
