"""Dead letters as a person looks at them: found, counted and shown, on any Kafka broker.

It reads and never writes; sending letters back is `penstock.pipelines.redrive`. No Spark here:
these commands start in the time a Python program takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.pipelines.ledger import Ledger
from penstock.pipelines.scan import Scan
from penstock.pipelines.transforms import dead_letter as name

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One record of a dead-letter topic: where it stands, and what its headers tell of it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    said: dict[str, str]
    """The last value of each header of ours: a second failure adds its own after the first's."""

    @classmethod
    def of(cls, message: Any) -> DeadLetter:
        headers: Headers = list(message.headers() or ())
        said = {
            key: value.decode(errors="replace")
            for key, value in headers
            if value is not None and key.startswith(name.HEADER_PREFIX)
        }
        return cls(
            message.topic(),
            message.partition(),
            message.offset(),
            message.timestamp()[1],
            message.key(),
            message.value(),
            headers,
            said,
        )

    @property
    def origin_topic(self) -> str | None:
        return self.said.get(name.TOPIC)

    @property
    def origin_partition(self) -> int | None:
        return _number(self.said.get(name.PARTITION))

    @property
    def origin_offset(self) -> int | None:
        return _number(self.said.get(name.OFFSET))

    @property
    def error(self) -> str:
        return self.said.get(name.ERROR, "unknown")

    @property
    def message(self) -> str:
        return self.said.get(name.MESSAGE, "")

    @property
    def attempt(self) -> int:
        return _number(self.said.get(name.ATTEMPT)) or 1

    @property
    def redriven(self) -> int:
        return _number(self.said.get(name.REDRIVEN)) or 0

    @property
    def history(self) -> list[dict[str, Any]]:
        """Earlier failures, oldest first; a header that is no list of them counts as none."""
        try:
            found = json.loads(self.said.get(name.HISTORY, "[]"))
        except ValueError:
            return []
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.lstrip("-").isdecimal() else None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which letters are meant. Nothing said means all of them."""

    error: str | None = None
    partition: int | None = None
    offset: int | None = None

    def takes(self, letter: DeadLetter) -> bool:
        wanted = self.offset in (None, letter.offset)
        return wanted and (self.error is None or _same_error(self.error, letter.error))

    def scan(self, client: Mapping[str, Any], topic: str, timeout_s: float) -> Scan:
        partitions = () if self.partition is None else (self.partition,)
        starts = {}
        if self.offset is not None and self.partition is not None:
            starts[self.partition] = self.offset
        return Scan(client, topic, partitions=partitions, starts=starts, timeout_s=timeout_s)


def _same_error(wanted: str, error: str) -> bool:
    """`DecodeError` also means `penstock.pipelines.error.DecodeError`."""
    return wanted.lower() in (error.lower(), error.rpartition(".")[2].lower())


@dataclass(slots=True)
class Tally:
    """What one topic holds of one class of error."""

    topic: str
    error: str
    count: int = 0
    waiting: int = 0
    """Not sent back yet."""
    oldest_ms: int | None = None
    newest_ms: int | None = None
    pipelines: set[str] = field(default_factory=set)
    origins: set[str] = field(default_factory=set)

    def add(self, letter: DeadLetter, *, waiting: bool) -> None:
        self.count += 1
        self.waiting += waiting
        moment = letter.timestamp_ms
        self.oldest_ms = moment if self.oldest_ms is None else min(self.oldest_ms, moment)
        self.newest_ms = moment if self.newest_ms is None else max(self.newest_ms, moment)
        self.pipelines.add(letter.said.get(name.PIPELINE, "unknown"))
        self.origins.add(letter.origin_topic or "unknown")


def dead_letter_topics(client: Mapping[str, Any], timeout_s: float = 10.0) -> list[str]:
    """Those named as pipelines name them; one with a name of its own has to be asked for."""
    topics = AdminClient(dict(client)).list_topics(timeout=timeout_s).topics
    return sorted(each for each in topics if each.endswith(name.TOPIC_SUFFIX))


def tallies(client: Mapping[str, Any], topic: str, timeout_s: float = 10.0) -> list[Tally]:
    """By class of error, the most frequent first."""
    found: dict[str, Tally] = {}
    with Scan(client, topic, timeout_s=timeout_s) as scan:
        ledger = Ledger.read(client, topic, scan.partitions, timeout_s)
        for record in chain.from_iterable(scan.batches()):
            letter = DeadLetter.of(record)
            tally = found.setdefault(letter.error, Tally(topic, letter.error))
            waiting = not ledger.holds(letter.partition, letter.offset)
            tally.add(letter, waiting=waiting)
    return sorted(found.values(), key=lambda each: (-each.count, each.error))


def letters(
    client: Mapping[str, Any],
    topic: str,
    choice: Choice,
    limit: int | None = None,
    timeout_s: float = 10.0,
) -> Iterator[DeadLetter]:
    """By partition, then by offset."""
    remaining = limit
    with choice.scan(client, topic, timeout_s) as scan:
        for record in scan.records():
            if remaining == 0:
                return
            letter = DeadLetter.of(record)
            if choice.takes(letter):
                yield letter
                remaining = None if remaining is None else remaining - 1
