"""The Spark query of a keyed pipeline: source, lanes, figures. Its checkpoint is only scratch."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.pipelines.keyed.lane import LaneSpec
from penstock.pipelines.keyed.task import COLUMNS, LONGEST, figures, task
from penstock.pipelines.run.spark_setting import configured
from penstock.pipelines.sinks.worker import own_workers
from penstock.pipelines.sources.table import portable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run.settings import RunSettings

OBSERVATION = "lanes"
OFFSETS_PER_TRIGGER = "200000"
_MEMORY = Path("/dev/shm")
# Small enough that the worker has something to do while the JVM still reads.
_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    # Any other bound makes the JVM measure the Arrow batch after every row.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
}
# A batch's end need not wait for Spark's own log of it: the positions are in the state topic.
_ASYNCHRONOUS = {
    "asyncProgressTrackingEnabled": "true",
    "asyncProgressTrackingCheckpointIntervalMs": "10000",
    "_asyncProgressTrackingOverrideSinkSupportCheck": "true",
}


def lane_spec(
    pipeline: KeyedPipeline, settings: RunSettings, run_ms: int, partitions: int = 0
) -> LaneSpec:
    return LaneSpec(
        pipeline=pipeline.name,
        run_ms=run_ms,
        topic=pipeline.topic,
        step=pipeline.step,
        decode=pipeline.decode or portable(pipeline.source.decode).load,
        outputs=pipeline.outputs,
        counters=pipeline.counters,
        dead_letters=pipeline.dead_letters,
        state=pipeline.state,
        encode_state=pipeline.encode_state,
        decode_state=pipeline.decode_state,
        client=settings.client(),
        retry=pipeline.retry,
        partitions=partitions if _one_task(settings) else 0,
    )


def start_query(
    pipeline: KeyedPipeline,
    spark: SparkSession,
    settings: RunSettings,
    spec: LaneSpec,
    starting: str,
) -> tuple[StreamingQuery, Path]:
    """A running query and its scratch directory."""
    scratch = Path(
        tempfile.mkdtemp(
            prefix=f"penstock-{pipeline.name}-", dir=_MEMORY if _MEMORY.is_dir() else None
        )
    )
    bound = {"maxOffsetsPerTrigger": OFFSETS_PER_TRIGGER}
    source = replace(pipeline.source, options={**bound, **pipeline.source.options})
    rows = source.stream(spark, settings, starting=starting)
    wanted = {**_SETTINGS, **pipeline.options, **settings.options}
    with configured(spark, wanted), own_workers(spark) as keep:
        writer = through_lanes(pipeline, settings, spec, rows).writeStream.format("noop")
        writer = writer.queryName(pipeline.name).option("checkpointLocation", str(scratch))
        if settings.trigger:
            writer = writer.trigger(**settings.trigger)
        else:
            writer = writer.options(**_ASYNCHRONOUS)
        return keep(writer.start()), scratch


def through_lanes(
    pipeline: KeyedPipeline, settings: RunSettings, spec: LaneSpec, rows: DataFrame
) -> DataFrame:
    schema = ", ".join(f"`{name}` long" for name in figures(spec))
    tables = {name: source.open(settings) for name, source in pipeline.tables.items()}
    narrow = rows.selectExpr(*COLUMNS)
    if _one_task(settings):
        # One task, so one worker process, which then keeps every lane from batch to batch. On a
        # cluster each partition goes to the same executor each time, and lanes stay apart.
        narrow = narrow.coalesce(1)
    return narrow.mapInArrow(task(spec, tables), schema).observe(OBSERVATION, *_sums(spec))


def _one_task(settings: RunSettings) -> bool:
    return settings.master.startswith("local")


def _sums(spec: LaneSpec) -> list[Column]:
    from pyspark.sql import functions as F

    return [(F.max(name) if name in LONGEST else F.sum(name)).alias(name) for name in figures(spec)]
