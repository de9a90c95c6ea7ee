"""A topic as a stream of rows: how it is read, decoded, and by what time its events go.

Owns the declaration and the raw frame; decoding is `transforms.decode`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.pipelines.transforms.decode import Decoder, raw

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.transforms.each import Each

RAW_COLUMNS = ("key", "value", "headers", "topic", "partition", "offset", "timestamp")

_READING = {
    "includeHeaders": "true",
    "kafka.fetch.max.wait.ms": "10",
    "kafka.isolation.level": "read_committed",
}


@dataclass(frozen=True, slots=True)
class TopicSource:
    topics: tuple[str, ...]
    pattern: str | None = None
    decode: Decoder = field(default_factory=raw)
    each: Each | None = None
    """A Python function for each decoded record; what it returns takes the record's place."""
    event_time: str | None = None
    """A timestamp column of the decoded rows, or `_timestamp` for the record's own."""
    lateness: str = "0 seconds"
    """How far behind the newest event a row may be, as an interval in Spark's syntax."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of Spark's Kafka source."""

    def stream(
        self, spark: SparkSession, settings: RunSettings, *, starting: str | None = None
    ) -> DataFrame:
        """Raw rows, of the columns in RAW_COLUMNS."""
        reader = spark.readStream.format("kafka").options(**self.reading(settings))
        return (
            reader.option("startingOffsets", starting or settings.starting)
            .load()
            .select(*RAW_COLUMNS)
        )

    def range(
        self, spark: SparkSession, settings: RunSettings, starting: str, ending: str
    ) -> DataFrame:
        """The same rows for a range of offsets, as a plain frame; JSON in Spark's form."""
        reader = spark.read.format("kafka").options(**self.reading(settings))
        own = reader.option("startingOffsets", starting).option("endingOffsets", ending)
        return own.load().select(*RAW_COLUMNS)

    def reading(self, settings: RunSettings) -> dict[str, str]:
        which = (
            {"subscribe": ",".join(self.topics)}
            if self.pattern is None
            else {"subscribePattern": self.pattern}
        )
        return {**_READING, **settings.spark_kafka(), **which, **self.options}


def topic(
    *names: str,
    pattern: str | None = None,
    decode: Decoder | None = None,
    each: Each | None = None,
    event_time: str | None = None,
    lateness: str = "0 seconds",
    options: Mapping[str, str] | None = None,
) -> TopicSource:
    if bool(names) == bool(pattern):
        raise ValueError('name topics, or give a pattern: topic("a", "b") or topic(pattern="a.*")')
    return TopicSource(
        topics=names,
        pattern=pattern,
        decode=decode or raw(),
        each=each,
        event_time=event_time,
        lateness=lateness,
        options=dict(options or {}),
    )
