"""What a runner may ask of a sink, and nothing about any one sink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.checkpoint import Checkpoint

Trigger = Mapping[str, Any]
"""The arguments of Spark's own `trigger(...)`, such as {"availableNow": True}; empty: as it comes.

Only the topic sink with at-least-once delivery takes {"realTime": "…"}."""

OutputMode = Literal["append", "update", "complete"]
"""Spark's own: which rows of an aggregate a batch hands over."""

Write = Callable[["DataFrame", str, int], None]
"""Of a batch, the id of its checkpoint, and its number there; one it has written it leaves out."""

ROWS_METRIC = "penstock.sink"
"""The observed metric of every sink's query: its field `rows` counts what a batch hands over."""


class Sink(Protocol):
    """One output of a pipeline. A batch that is replayed is written once."""

    def start(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        checkpoint: str,
        settings: RunSettings,
        trigger: Trigger,
    ) -> StreamingQuery: ...


@runtime_checkable
class BatchSink(Sink, Protocol):
    """One that takes a batch from whoever has it: outputs of it can share a query."""

    def open(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        place: Checkpoint,
        settings: RunSettings,
    ) -> Write:
        """Make the place ready for rows such as the frame's, and look whether it fits the
        checkpoint; what it gives writes batches."""


def counted(frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as sql

    return frame.observe(ROWS_METRIC, sql.count(sql.lit(1)).alias("rows"))


def triggered(writer: DataStreamWriter, trigger: Trigger) -> DataStreamWriter:
    return writer.trigger(**trigger) if trigger else writer
