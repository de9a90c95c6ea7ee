"""A topic as an output: exactly once through fenced transactions, or as Spark itself does it.

Owns the plan on the driver. Rows of one key go to one of a number of tasks, in every replay of
a batch to the same one; what a task does with them is `write.py`'s business. An output with a query
to itself has no foreachBatch: its plan is made once. Whether a batch was written is asked of the
broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from confluent_kafka.admin import AdminClient

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.silent import SILENT
from penstock.pipelines.sinks.checkpoint import Checkpoint
from penstock.pipelines.sinks.contract import OutputMode, Trigger, Write, counted, triggered
from penstock.pipelines.sinks.fence import FenceReader, Target
from penstock.pipelines.sinks.worker import Workers, own_workers
from penstock.pipelines.sinks.write import write_task
from penstock.pipelines.topic_making import ensure_topic, wait_known

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.run_settings import RunSettings

Delivery = Literal["exactly-once", "at-least-once"]
_COLUMNS = ("key", "value", "headers", "topic")
_TIMEOUT_S = 30.0
# A guess, tried on two cores only: with fewer tasks, fewer producers move from worker to worker.
_CORES_PER_TASK = 4


@dataclass(frozen=True, slots=True)
class TopicSink:
    """Rows: `value` and perhaps `key` (text or binary), `headers`, `topic` (instead of ours)."""

    topic: str
    delivery: Delivery = "exactly-once"
    mode: OutputMode = "append"
    kafka: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the producer: librdkafka's for exactly-once, else those of the Java client."""
    tasks: int | None = None
    """How many tasks write; None: one for every four cores. A batch under way keeps its number."""
    transaction_timeout_ms: int = 600_000
    """Longer than the longest write of a task; at most the broker's transaction.max.timeout.ms."""

    def start(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        checkpoint: str,
        settings: RunSettings,
        trigger: Trigger,
    ) -> StreamingQuery:
        rows = _outgoing(frame, output)
        if self.delivery == "at-least-once":
            return self._start_plain(rows, checkpoint, settings, trigger)
        if "realTime" in trigger:
            raise DeclarationError(
                f"output {output}: real-time mode has no exactly-once topic sink:"
                " say sinks.topic(…, delivery='at-least-once')"
            )
        target = self._target(pipeline, output, settings)
        place = Checkpoint(rows.sparkSession, checkpoint)
        tasks = fenced_tasks(rows.sparkSession, place, target, self.tasks)
        spread = counted(rows).repartition(tasks, _spreading_key())
        with own_workers(rows.sparkSession) as keep:
            written = spread.mapInArrow(partial(write_task, target, tasks), "written long")
            writer = written.writeStream.format("noop").outputMode(self.mode)
            writer = writer.option("checkpointLocation", checkpoint)
            return keep(triggered(writer, trigger).start())

    def open(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        place: Checkpoint,
        settings: RunSettings,
    ) -> Write:
        _outgoing(frame, output)
        if self.delivery == "at-least-once":
            return partial(self._write_plain, output, settings)
        target = self._target(pipeline, output, settings)
        tasks = fenced_tasks(frame.sparkSession, place, target, self.tasks)
        workers = Workers(frame.sparkSession)

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            spread = _outgoing(batch, output).repartition(tasks, _spreading_key())
            with workers.functions():
                task = partial(write_task, target, tasks, batch=(query_id, number))
                written = spread.mapInArrow(task, "written long")
            written.write.format("noop").mode("overwrite").save()

        return write

    def _target(self, pipeline: str, output: str, settings: RunSettings) -> Target:
        kafka = settings.client() | dict(self.kafka)
        return Target(pipeline, output, self.topic, kafka, self.transaction_timeout_ms)

    def _start_plain(
        self, rows: DataFrame, checkpoint: str, settings: RunSettings, trigger: Trigger
    ) -> StreamingQuery:
        rows, options = self._plain(rows, settings)
        if "realTime" not in trigger:
            rows = counted(rows)
        writer = rows.writeStream.format("kafka").options(**options).outputMode(self.mode)
        return triggered(writer.option("checkpointLocation", checkpoint), trigger).start()

    def _write_plain(
        self, output: str, settings: RunSettings, batch: DataFrame, query_id: str, number: int
    ) -> None:
        rows, options = self._plain(_outgoing(batch, output), settings)
        rows.write.format("kafka").options(**options).save()

    def _plain(self, rows: DataFrame, settings: RunSettings) -> tuple[DataFrame, dict[str, str]]:
        """Rows and options for Spark's own sink."""
        options = settings.spark_kafka() | {f"kafka.{k}": str(v) for k, v in self.kafka.items()}
        if "topic" not in rows.columns:
            return rows, {**options, "topic": self.topic}
        from pyspark.sql import functions as sql

        # The option would go before the column.
        return rows.withColumn("topic", sql.coalesce("topic", sql.lit(self.topic))), options


def topic(
    name: str,
    *,
    delivery: Delivery = "exactly-once",
    mode: OutputMode = "append",
    kafka: Mapping[str, Any] | None = None,
    tasks: int | None = None,
    transaction_timeout_ms: int = 600_000,
) -> TopicSink:
    if delivery not in ("exactly-once", "at-least-once"):
        raise DeclarationError(f"delivery is exactly-once or at-least-once, not {delivery!r}")
    return TopicSink(name, delivery, mode, dict(kafka or {}), tasks, transaction_timeout_ms)


def _outgoing(frame: DataFrame, output: str) -> DataFrame:
    """The columns of a record, as bytes; anything else would be left out in silence."""
    from pyspark.sql import functions as sql

    unknown = [name for name in frame.columns if name not in _COLUMNS]
    if unknown or "value" not in frame.columns:
        raise DeclarationError(
            f"output {output}: a topic takes the columns value and perhaps key, headers, topic;"
            f" it was given {', '.join(frame.columns)}: select what to write, e.g. with to_json"
        )
    if "key" not in frame.columns:
        frame = frame.withColumn("key", sql.lit(None).cast("binary"))
    columns = [
        sql.col(name).cast("binary").alias(name) if name in ("key", "value") else sql.col(name)
        for name in _COLUMNS
        if name in frame.columns
    ]
    return frame.select(*columns)


def _spreading_key() -> Column:
    """Made of the record alone, so that a replayed one finds the task that had it before."""
    from pyspark.sql import functions as sql

    return sql.coalesce("key", "value")


def fenced_tasks(
    spark: SparkSession, checkpoint: Checkpoint, target: Target, asked: int | None
) -> int:
    """How many tasks write this output: as the cluster is now, or as a batch under way had it."""
    cores = spark.sparkContext.defaultParallelism
    partitions = _partitions(target)
    tasks = min(asked or max(1, cores // _CORES_PER_TASK), partitions)
    before = (checkpoint.pinned() or {}).get("topic", target.topic)
    if before != target.topic:
        raise RunError(
            f"output {target.output} went to topic {before} so far, and its fence is"
            f" there: give the output another name to write to {target.topic}"
        )
    _require_checkpoint_at_fence(checkpoint, target, partitions)
    return int(checkpoint.pin({"topic": target.topic, "tasks": tasks})["tasks"])


def _require_checkpoint_at_fence(checkpoint: Checkpoint, target: Target, partitions: int) -> None:
    """A checkpoint put back from a copy plans other batches under numbers already written."""
    query_id = checkpoint.query_id()
    if query_id is None:
        return
    reader = FenceReader(target)
    try:
        # Of every task there can have been: earlier starts may have had more of them.
        fence = max(reader.read(range(partitions), query_id))
    finally:
        reader.close()
    if fence > checkpoint.last_batch() + 1:
        raise RunError(
            f"output {target.output}: the checkpoint is older than what was written (batch"
            f" {checkpoint.last_batch()} there, batch {fence - 1} in {target.topic}): start from"
            " an empty checkpoint directory and the offsets of your choice"
        )


def _partitions(target: Target) -> int:
    admin = AdminClient(target.kafka, logger=SILENT)
    # Asked first: whoever may write a topic need not be allowed to make one.
    if target.topic not in admin.list_topics(timeout=_TIMEOUT_S).topics:
        ensure_topic(admin, target.topic, timeout_s=_TIMEOUT_S)
    return wait_known(admin, target.topic, timeout_s=_TIMEOUT_S)
