"""Rejected rows of a batch: its dead letters and its late rows, written once each.

A query's batch says, by an observed metric, whether there is anything of the kind. Only then its
range of offsets is read once more, decoded the same way, and the rows go to their topics in one
transaction that holds the number of the batch: a batch handled twice is written once. A stream
without such rows pays for the metric alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.client.letter_size import letter_config
from penstock.client.patience import NO_COORDINATOR_YET, patiently
from penstock.client.steady import STEADY_TRANSACTIONS
from penstock.pipelines.folder import Document, Folder
from penstock.pipelines.run.batch_log import Batch, BatchLog, Positions
from penstock.pipelines.run.group_member import known_topics
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.silent import SILENT
from penstock.pipelines.sources.topic import until
from penstock.pipelines.topic_making import ensure_topic
from penstock.pipelines.transforms.dead_letter import dead_letters
from penstock.pipelines.transforms.late import late_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.pipelines.declare import Pipeline
    from penstock.pipelines.sources.topic import TopicSource

_TIMEOUT_S = 60.0
_MARK = "penstock-aside"


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for in a batch, by input."""

    poison: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()
    failed: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """What the input's function failed for, as the batch reported it; else it is called again."""


@dataclass(slots=True)
class Found:
    dead_letters: int = 0
    late: int = 0


@dataclass(slots=True)
class RejectedRows:
    spark: SparkSession
    pipeline: Pipeline
    query: str
    """The name of the query whose batches these are."""
    outputs: Sequence[str]
    settings: RunSettings
    log: BatchLog
    inputs: tuple[str, ...] = ()
    """The input that each of the query's sources is, in Spark's order."""
    query_id: str = ""
    ends: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """Of a bounded run: what lies behind them is not its own."""
    _producer: Any = None
    _reader: Any = None
    _made: set[str] = field(default_factory=set)

    @property
    def _name(self) -> str:
        return f"penstock.aside.{self.pipeline.name}.{self.query}"

    def first_open(self) -> int:
        """The first batch that is not known to be handled."""
        return max(handled_batch(self.log.folder) + 1, self._fence(), self.log.first_known())

    def done(self, batch: int) -> None:
        """Kept beside the checkpoint; when it is lost, the fence still holds."""
        Document(self.log.folder, _MARK).write({"batch": batch})

    def see_to(self, number: int, search: Search) -> Found:
        found = Found()
        letters = self._letters(self.log.batch(number), search, found)
        first = next(letters, None)
        if first is not None:
            self._write(number, _chain(first, letters))
        self.done(number)
        return found

    def _letters(self, batch: Batch, search: Search, found: Found) -> Iterator[tuple[str, Any]]:
        looked: set[str] = set()
        for name, start, end in zip(self.inputs, batch.starts, batch.ends, strict=True):
            source = self.pipeline.inputs[name]
            # An input that is joined with itself is two sources.
            if end is None or name in looked or name not in search.poison | search.late:
                continue
            looked.add(name)
            rows = self._rows(source, start, end)
            if name in search.poison:
                failed = _failed(rows, source, search.failed.get(name))
                for row in _rows(dead_letters(failed, self.pipeline.name)):
                    found.dead_letters += 1
                    yield self.pipeline.dead_letters, row
            if name in search.late and batch.watermark_ms > 0:
                made = rows if source.each is None else source.each.apply(rows)
                for row in _rows(self._late(source.judged(made), source, batch)):
                    found.late += 1
                    yield self.pipeline.late, row

    def _rows(self, source: TopicSource, start: Positions | None, end: Positions) -> DataFrame:
        starting, ending = json.dumps(_whole(start, end)), json.dumps(end)
        raw = source.range(self.spark, self.settings, starting, ending)
        return source.decode.apply(until(raw, self.ends) if self.ends else raw)

    def _late(self, rows: DataFrame, source: TopicSource, batch: Batch) -> DataFrame:
        return late_rows(
            rows,
            source.event_time or "_timestamp",
            batch.watermark_ms,
            pipeline=self.pipeline.name,
            output=", ".join(self.outputs),
        )

    def _write(self, number: int, letters: Iterable[tuple[str, Any]]) -> None:
        producer = self._open()
        if self._fence() > number:
            return
        producer.begin_transaction()
        topic = ""
        for topic, row in letters:
            self._make(topic)
            headers = [(each["key"], each["value"]) for each in row["headers"] or ()]
            _produce(producer, topic, row["key"], row["value"], headers)
        mark = TopicPartition(self.pipeline.dead_letters, 0, number + 1, self.query_id)
        self._make(self.pipeline.dead_letters)
        group = self._fence_reader().consumer_group_metadata()
        producer.send_offsets_to_transaction([mark], group, _TIMEOUT_S)
        producer.commit_transaction(_TIMEOUT_S)

    def _open(self) -> Any:
        if self._producer is None:
            producer = Producer(
                STEADY_TRANSACTIONS
                | self.settings.client(
                    transactional_id=self._name,
                    transaction_timeout_ms=600_000,
                    linger_ms=5,
                    # The broker decides what is too large.
                    message_max_bytes=100_000_000,
                    error_cb=lambda _: None,
                ),
                logger=SILENT,
            )
            producer.init_transactions(_TIMEOUT_S)
            self._producer = producer
        return self._producer

    def close(self) -> None:
        """What is open is aborted by the next that takes the name."""
        self._producer = None
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _fence(self) -> int:
        """The batch after the last one written; 0 for one of another query."""
        asked = [TopicPartition(self.pipeline.dead_letters, 0)]
        reader = self._fence_reader()
        (place,) = patiently(
            lambda: reader.committed(asked, timeout=_TIMEOUT_S), NO_COORDINATOR_YET, _TIMEOUT_S
        )
        if place.error is not None:
            raise KafkaException(place.error)
        return int(place.offset) if place.offset > 0 and place.metadata == self.query_id else 0

    def _fence_reader(self) -> Any:
        if self._reader is None:
            own = self.settings.client(
                group_id=self._name,
                isolation_level="read_committed",
                enable_auto_commit=False,
                error_cb=lambda _: None,
            )
            self._reader = Consumer(own, logger=SILENT)
        return self._reader

    def _make(self, topic: str) -> None:
        """The topic, if it is not there: with the broker's defaults, and room for the largest."""
        if topic in self._made:
            return
        if topic not in known_topics(self.settings):
            admin = AdminClient(self.settings.client(error_cb=lambda _: None), logger=SILENT)
            sources = [each for one in self.pipeline.inputs.values() for each in one.topics]
            roomy = letter_config(admin, sources, _TIMEOUT_S)
            ensure_topic(admin, topic, config=roomy, timeout_s=_TIMEOUT_S)
        self._made.add(topic)


def handled_batch(checkpoint: Folder) -> int:
    """The last batch whose rejected rows are known to be written, or -1."""
    said = Document(checkpoint, _MARK).read()
    return -1 if said is None else int(said["batch"])


def _failed(
    rows: DataFrame, source: TopicSource, told: Sequence[Mapping[str, Any]] | None
) -> DataFrame:
    """Decoded rows with what went wrong after that, too."""
    if source.each is None:
        return source.judged(rows)
    # What was told has the expectations in it that its results failed.
    return source.judged(source.each.apply(rows)) if told is None else source.each.known(rows, told)


def _rows(frame: DataFrame) -> Iterator[Any]:
    """One job, whose rows come as they are asked for: there may be few, or a flood."""
    return iter(frame.coalesce(1).toLocalIterator())


def _produce(producer: Any, topic: str, key: Any, value: Any, headers: list[Any]) -> None:
    while True:
        try:
            producer.produce(
                topic,
                key=None if key is None else bytes(key),
                value=None if value is None else bytes(value),
                headers=headers,
            )
            return
        except BufferError:
            producer.poll(0.1)


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _whole(start: Positions | None, end: Mapping[str, Mapping[str, int]]) -> Positions:
    """Where partitions came up in this batch, they are read from their beginning (-2)."""
    known = start or {}
    return {
        topic: {each: known.get(topic, {}).get(each, -2) for each in partitions}
        for topic, partitions in end.items()
    }
