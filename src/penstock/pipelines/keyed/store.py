"""A keyed pipeline with its states in Spark's own store: made a DataFrame pipeline, and run as one.

So checkpoints, the consumer group, restarts and the rest are those of every DataFrame pipeline
(`run.pipeline`); here is what is peculiar: the step as a stateful operator, and its settings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.pipelines.declare import Pipeline
from penstock.pipelines.keyed.expected import VALUE, WithValue
from penstock.pipelines.keyed.judging import DEAD_LETTERS, EVENTS
from penstock.pipelines.keyed.preparation import ensure_topics, step_spec
from penstock.pipelines.keyed.state_place import CHECKPOINT, require_states_here
from penstock.pipelines.keyed.store_sink import PARTITIONS, StoreSink
from penstock.pipelines.run.pipeline import PipelineRun, start_pipeline
from penstock.pipelines.transforms.dead_letter import late_topic
from penstock.pipelines.transforms.decode import raw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run_settings import RunSettings

_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb"
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # A batch writes its changes; what it would take to write the whole store is left to Spark's
    # maintenance.
    f"{_ROCKSDB}.changelogCheckpointing.enabled": "true",
    # The state of a batch is that of the attempt that counted, also with speculation.
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
# A batch is judged in memory: after a long stop it must not be all that has come since.
_READING = {"maxOffsetsPerTrigger": "50000"}


def start_in_store(
    pipeline: KeyedPipeline, spark: SparkSession, settings: RunSettings
) -> PipelineRun:
    if pipeline.prepare is not None:
        pipeline.prepare(settings)
    ensure_topics(pipeline, settings)
    require_states_here(pipeline, spark, settings)
    return start_pipeline(as_frames(pipeline, settings), spark, settings)


def as_frames(pipeline: KeyedPipeline, settings: RunSettings) -> Pipeline:
    # Rules are about the columns of the source's decoder; else Python alone decodes.
    decoder = WithValue(pipeline.source.decode) if pipeline.source.expect else raw(column=VALUE)
    options = {**_READING, **pipeline.source.options}
    source = replace(pipeline.source, decode=decoder, options=options)
    asked = {**pipeline.options, **settings.options}.get(PARTITIONS)
    sink = StoreSink(
        spec=step_spec(pipeline),
        topics={**pipeline.outputs, DEAD_LETTERS: pipeline.dead_letters},
        tables=pipeline.tables,
        tasks=None if asked is None else int(asked),
    )
    return Pipeline(
        name=pipeline.name,
        function=_events,
        inputs={EVENTS: source},
        outputs={CHECKPOINT: sink},
        dead_letters=pipeline.dead_letters,
        late=late_topic(pipeline.name),
        breaker=pipeline.breaker,
        options={**SETTINGS, **pipeline.options},
    )


def _events(events: Any) -> Any:
    return events
