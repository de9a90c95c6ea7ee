"""A topic as a stream of rows: how it is read, decoded, and by what time its events go.

Owns the declaration and the raw frame; decoding is `transforms.decode`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.pipelines.transforms.decode import raw
from penstock.pipelines.transforms.decoder import Decoder
from penstock.pipelines.transforms.expectation import (
    Expectation,
    judged_input,
    require_different,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.transforms.each import Each

RAW_COLUMNS = ("key", "value", "headers", "topic", "partition", "offset", "timestamp")

BATCH_ROWS_MAX = 1_000_000
"""Of a batch, where the options do not limit it: a long backlog is worked off in pieces."""

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
    expect: tuple[Expectation, ...] = ()
    """What the rows are to satisfy that the pipeline's function gets."""
    event_time: str | None = None
    """A timestamp column of the decoded rows, or `_timestamp` for the record's own."""
    lateness: str = "0 seconds"
    """How far behind the newest event a row may be, as an interval in Spark's syntax."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of Spark's Kafka source."""

    @property
    def schema(self) -> StructType:
        """The fields of a row."""
        return self.decode.schema if self.each is None else self.each.schema

    def judged(self, rows: DataFrame, *, stops: bool = False) -> DataFrame:
        """Decoded rows, and what the function made of them, with the expectations they break."""
        if not self.expect:
            return rows
        return judged_input(rows, self.expect, self.schema, stops=stops)

    def stream(
        self, spark: SparkSession, settings: RunSettings, *, starting: str | None = None
    ) -> DataFrame:
        """Raw rows, of the columns in RAW_COLUMNS."""
        own = self.reading(settings)
        own["startingOffsets"] = starting or settings.starting
        if "realTime" not in settings.trigger:
            own.setdefault("maxOffsetsPerTrigger", str(BATCH_ROWS_MAX))
        return spark.readStream.format("kafka").options(**own).load().select(*RAW_COLUMNS)

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


def until(rows: DataFrame, ends: Mapping[tuple[str, int], int]) -> DataFrame:
    """Of raw rows those before the end of their partition; none of partitions without one."""
    from pyspark.sql import functions as F

    said = [F.lit(each) for (t, p), end in ends.items() for each in (f"{t}/{p}", end)]
    end = F.try_element_at(F.create_map(*said), F.concat_ws("/", "topic", "partition"))
    return rows.where(F.col("offset") < end)


def topic(
    *names: str,
    pattern: str | None = None,
    decode: Decoder | None = None,
    each: Each | None = None,
    expect: Sequence[Expectation] = (),
    event_time: str | None = None,
    lateness: str = "0 seconds",
    options: Mapping[str, str] | None = None,
) -> TopicSource:
    if bool(names) == bool(pattern):
        raise ValueError('name topics, or give a pattern: topic("a", "b") or topic(pattern="a.*")')
    require_different(", ".join(names) or str(pattern), expect)
    return TopicSource(
        topics=names,
        pattern=pattern,
        decode=decode or raw(),
        each=each,
        expect=tuple(expect),
        event_time=event_time,
        lateness=lateness,
        options=dict(options or {}),
    )
