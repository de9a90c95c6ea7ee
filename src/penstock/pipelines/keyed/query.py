"""The Spark query of a keyed pipeline: a clock, slots, figures. Its checkpoint is only scratch.

Spark says when a task begins, where it runs, and that it failed; the rows themselves go from the
broker to the worker, not through the JVM (`docs/decisions/0008`). A micro-batch is an epoch: each
slot follows its partitions for so long, in as many transactions as come to be.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.pipelines.keyed.lane import LaneSpec
from penstock.pipelines.keyed.slot import LONGEST
from penstock.pipelines.keyed.task import POSITIONS, figures, task
from penstock.pipelines.run.spark_setting import configured
from penstock.pipelines.sinks.worker import own_workers, worker_slot
from penstock.pipelines.sources.table import portable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run_settings import RunSettings

OBSERVATION = "lanes"
HALT = "halt"
EPOCH_S = 2.0
OVERTIME_S = 5.0
# On a cluster a slot's next task may run in another executor, which has to open its lanes anew;
# so there tasks are longer, and between two of them the slot rests.
CLUSTER_EPOCH_S = 30.0
_MEMORY = Path("/dev/shm")
# A batch's end need not wait for Spark's own log of it: the positions are in the state topic.
_ASYNCHRONOUS = {
    "asyncProgressTrackingEnabled": "true",
    "asyncProgressTrackingCheckpointIntervalMs": "10000",
    "_asyncProgressTrackingOverrideSinkSupportCheck": "true",
}


def lane_spec(
    pipeline: KeyedPipeline,
    settings: RunSettings,
    run_ms: int,
    partitions: int,
    starting: Mapping[int, int],
) -> LaneSpec:
    local = (settings.master or "local").startswith("local")
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
        partitions=partitions,
        starting=starting,
        epoch_s=EPOCH_S if local else CLUSTER_EPOCH_S,
        overtime_s=OVERTIME_S if local else 0.0,
        to_end=bool(settings.trigger),
    )


def scratch_directory(pipeline: KeyedPipeline) -> Path:
    memory = _MEMORY if _MEMORY.is_dir() else None
    return Path(tempfile.mkdtemp(prefix=f"penstock-{pipeline.name}-", dir=memory))


def start_query(
    pipeline: KeyedPipeline,
    spark: SparkSession,
    settings: RunSettings,
    spec: LaneSpec,
    scratch: Path,
) -> StreamingQuery:
    wanted = {**pipeline.options, **settings.options}
    with configured(spark, wanted), own_workers(spark) as keep:
        writer = through_slots(pipeline, spark, settings, spec).writeStream.format("noop")
        writer = writer.queryName(pipeline.name).option("checkpointLocation", str(scratch))
        if settings.trigger:
            writer = writer.trigger(**settings.trigger)
        else:
            writer = writer.options(**_ASYNCHRONOUS)
        return keep(writer.start())


def through_slots(
    pipeline: KeyedPipeline, spark: SparkSession, settings: RunSettings, spec: LaneSpec
) -> DataFrame:
    """One task and one worker process for each slot, which keeps its lanes from task to task."""
    schema = ", ".join([*(f"`{name}` long" for name in figures(spec)), f"{POSITIONS} string"])
    tables = {name: source.open(settings) for name, source in pipeline.tables.items()}
    parts = []
    for slot in range(spec.slots):
        with worker_slot(spark, slot):
            parts.append(_clock(spark).mapInArrow(task(spec, tables, slot), schema))
    return reduce(_union, parts).observe(OBSERVATION, *_sums(spec))


def _clock(spark: SparkSession) -> DataFrame:
    """One row in each batch, to wake one task."""
    reader = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "1")
    return reader.option("numPartitions", "1").load()


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.union(other)


def _sums(spec: LaneSpec) -> list[Column]:
    from pyspark.sql import functions as F

    sums = [(F.max(name) if name in LONGEST else F.sum(name)).alias(name) for name in figures(spec)]
    return [*sums, F.collect_list(POSITIONS).alias(POSITIONS)]
