"""The Spark query of a keyed pipeline: Spark's Kafka source, then the step in `mapInArrow`.

The query has branches, as many as there are partitions or cores, whichever is less. Branch i of n
reads the partitions i, i + n, and so on, in one task; its Python function has a worker process of
its own, which keeps the lanes of these partitions from batch to batch. Nothing but speed depends
on that. The checkpoint is scratch: where a query begins is read from the state topic.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.keyed.expected import BROKEN, with_broken
from penstock.pipelines.keyed.lane import LaneSpec
from penstock.pipelines.keyed.preparation import step_spec
from penstock.pipelines.keyed.task import FOLLOWS, SCHEMA, task
from penstock.pipelines.run.spark_setting import configured
from penstock.pipelines.sinks.worker import own_workers, worker_slot
from penstock.pipelines.sources.table import Table
from penstock.pipelines.sources.topic import RAW_COLUMNS, TopicSource, until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run_settings import RunSettings

_ROWS_AT_ONCE = "spark.sql.execution.arrow.maxRecordsPerBatch"
# Rows go to Python in pieces, so that it judges the first while the JVM still reads the next.
_SETTINGS = {
    _ROWS_AT_ONCE: "2000",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.pollingDelay": "1ms",
}
# Real-time mode: Spark holds so many rows back until another one has come, for as long as its batch
# lasts. So it is one, and none waits in a buffer; who has thousands a second may say more.
_REAL_TIME = {
    _ROWS_AT_ONCE: "1",
    "spark.sql.execution.pandas.udf.buffer.size": "16",
}
# Spark's own list of what real-time mode is supported for; Python is not on it in 4.2.
_ALLOWLIST_CHECK = "spark.sql.streaming.realTimeMode.allowlistCheck"
# A batch's end need not wait for Spark's own log of it: the positions are in the state topic.
_ASYNCHRONOUS = {
    "asyncProgressTrackingEnabled": "true",
    "asyncProgressTrackingCheckpointIntervalMs": "10000",
    "_asyncProgressTrackingOverrideSinkSupportCheck": "true",
}
_OURS = (
    "assign",
    "subscribe",
    "subscribePattern",
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingTimestamp",
    "failOnDataLoss",
    "includeHeaders",
    "kafka.isolation.level",
)
_SPLITTING = ("minPartitions", "maxRecordsPerPartition")
_OF_ALL_BRANCHES = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger")


def require_possible(pipeline: KeyedPipeline) -> None:
    """Refuse what would change which rows a task gets."""
    for name in pipeline.source.options:
        if name in _SPLITTING:
            raise DeclarationError(
                f"{pipeline.name}: {name} splits a partition among tasks, and a keyed pipeline"
                " judges it in order: leave it out"
            )
        if name in _OURS:
            raise DeclarationError(
                f"{pipeline.name}: a keyed pipeline sets {name} itself: leave it out"
            )


def is_real_time(settings: RunSettings) -> bool:
    return "realTime" in settings.trigger


def lane_spec(
    pipeline: KeyedPipeline, settings: RunSettings, run: str, partitions: int
) -> LaneSpec:
    return LaneSpec(
        step=step_spec(pipeline),
        run=run,
        topics=pipeline.outputs,
        dead_letters=pipeline.dead_letters,
        state=pipeline.state,
        client=settings.client(),
        partitions=partitions,
    )


class Span(NamedTuple):
    """What a query reads."""

    starts: Mapping[int, int]
    """By partition."""
    ends: Mapping[tuple[str, int], int]
    """Of a bounded run."""


class Scratch:
    """The checkpoint directory of one query, which nobody needs afterwards."""

    def __init__(self, home: Path, run: str) -> None:
        self._path = (home / f"scratch-{run}").absolute()
        for left in home.glob("scratch-*"):
            shutil.rmtree(left, ignore_errors=True)

    @property
    def location(self) -> str:
        return self._path.as_uri()

    def remove(self) -> None:
        shutil.rmtree(self._path, ignore_errors=True)


def start_query(
    pipeline: KeyedPipeline,
    spark: SparkSession,
    settings: RunSettings,
    spec: LaneSpec,
    span: Span,
    scratch: Scratch,
) -> StreamingQuery:
    real_time = is_real_time(settings)
    own = {**_SETTINGS, **_REAL_TIME} if real_time else _SETTINGS
    wanted = {**own, **pipeline.options, **settings.options}
    if real_time:
        # Of the session, and for good: Spark looks at it there before every batch.
        spark.conf.set(_ALLOWLIST_CHECK, "false")
    with configured(spark, wanted), own_workers(spark) as keep:
        judged = _judged(pipeline, spark, settings, spec, span)
        writer = judged.writeStream.format("noop").queryName(pipeline.name)
        writer = writer.option("checkpointLocation", scratch.location)
        if settings.trigger:
            writer = writer.trigger(**settings.trigger)
            writer = writer.outputMode("update") if real_time else writer
        else:
            writer = writer.options(**_ASYNCHRONOUS)
        return keep(writer.start())


def _judged(
    pipeline: KeyedPipeline,
    spark: SparkSession,
    settings: RunSettings,
    spec: LaneSpec,
    span: Span,
) -> DataFrame:
    tables: dict[str, Table] = {
        name: source.open(settings) for name, source in pipeline.tables.items()
    }
    real_time = is_real_time(settings)
    cores = spark.sparkContext.defaultParallelism
    if real_time and spec.partitions > cores:
        raise RunError(
            f"in real-time mode each of the {spec.partitions} partitions of {pipeline.topic} takes"
            f" a core for itself, and Spark has {cores}: give it more, or run without"
        )
    count = min(spec.partitions, cores)
    branches = []
    for number in range(count):
        own = range(number, spec.partitions, count)
        starts = {each: span.starts[each] for each in own}
        options = _source_options(pipeline, settings, starts, count)
        rows = _rows(pipeline.source, spark, options, span)
        if not real_time:
            rows = rows.coalesce(1)
        elif spark.conf.get(_ROWS_AT_ONCE) == "1":
            rows = _each_followed(rows)
        with worker_slot(spark, number):
            judge = task(spec, tables, own, real_time=real_time)
            branches.append(rows.mapInArrow(judge, SCHEMA))
    return reduce(_union, branches)


def _source_options(
    pipeline: KeyedPipeline, settings: RunSettings, starts: Mapping[int, int], branches: int
) -> dict[str, str]:
    options = pipeline.source.reading(settings)
    del options["subscribe"]
    for name in _OF_ALL_BRANCHES:
        if name in options:
            options[name] = str(max(1, int(options[name]) // branches))
    return {
        **options,
        "assign": json.dumps({pipeline.topic: list(starts)}),
        "startingOffsets": json.dumps({pipeline.topic: starts}),
        "failOnDataLoss": "true",
    }


def _rows(
    source: TopicSource, spark: SparkSession, options: Mapping[str, str], span: Span
) -> DataFrame:
    loaded = spark.readStream.format("kafka").options(**options).load()
    if span.ends:
        loaded = until(loaded, span.ends)
    columns = ["key", "value", "partition", "offset", "unix_millis(timestamp) AS timestamp_ms"]
    columns.append("headers")
    if source.expect:
        loaded = with_broken(loaded.select(*RAW_COLUMNS), source)
        columns.append(BROKEN)
    return loaded.selectExpr(*columns)


def _each_followed(rows: DataFrame) -> DataFrame:
    """Behind each row one that says nothing, so that no row is held back until the next comes."""
    said = [f"if({FOLLOWS}, null, {each}) AS {each}" for each in ("key", "value", "headers")]
    place = [each for each in rows.columns if each not in ("key", "value", "headers")] + [FOLLOWS]
    return rows.selectExpr("*", f"explode(array(false, true)) AS {FOLLOWS}").selectExpr(
        *said, *place
    )


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.union(other)
