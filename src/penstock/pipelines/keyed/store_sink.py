"""The query of a keyed pipeline with its states in Spark's store: rows through the step, and out.

Owns the plan. Keys are spread over buckets, a bucket is a group of `transformWithState`, and there
is one bucket for each task that writes, in each replay of a batch the same: what the step made of
a bucket is written in one fenced transaction of the task that made it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.folder import Document, Folder
from penstock.pipelines.keyed.expected import VALUE
from penstock.pipelines.keyed.judging import StepSpec
from penstock.pipelines.run.spark_setting import configured
from penstock.pipelines.sinks.checkpoint import Checkpoint
from penstock.pipelines.sinks.contract import ROWS_METRIC, Trigger, triggered
from penstock.pipelines.sinks.fence import Target
from penstock.pipelines.sinks.topic import fenced_tasks
from penstock.pipelines.sinks.worker import own_workers, worker_slot
from penstock.pipelines.sinks.write import write_task

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sources.table import TableSource

_PIN = "penstock-state"
PARTITIONS = "spark.sql.shuffle.partitions"
# Of a partition's hash, the bits that choose one of so few partitions are as good as random.
_CANDIDATES_PER_BUCKET = 64


@dataclass(frozen=True, slots=True)
class StoreSink:
    spec: StepSpec
    topics: Mapping[str, str]
    """Of each output, and of the dead letters under their own name."""
    tables: Mapping[str, TableSource]
    tasks: int | None = None
    """How many judge and write, a bucket each; None: one for four cores. It stays as it began."""

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
        if "realTime" in trigger:
            raise DeclarationError(
                f"{pipeline}: Spark's state store is not for real-time mode: keep the state in"
                " the topic (--state topic)"
            )
        spark = frame.sparkSession
        fenced = next(iter(self.topics.values()))
        target = Target(pipeline, output, fenced, settings.client())
        tasks = self._pinned(spark, checkpoint, target)
        with configured(spark, {PARTITIONS: str(tasks)}), own_workers(spark) as keep:
            with worker_slot(spark, 0):
                judged = self._judged(_incoming(frame, tasks), settings)
            packed = judged.observe(ROWS_METRIC, *self._sums()).select("packed")
            written = packed.mapInArrow(partial(write_packed, target, tasks), "written long")
            writer = written.writeStream.format("noop").outputMode("append")
            writer = writer.queryName(pipeline).option("checkpointLocation", checkpoint)
            return keep(triggered(writer, trigger).start())

    def _pinned(self, spark: SparkSession, checkpoint: str, target: Target) -> int:
        """Buckets, state partitions and writing tasks in one: states stand where they began."""
        pin = Document(Folder(spark, checkpoint), _PIN)
        pinned = pin.read()
        asked = self.tasks if pinned is None else int(pinned["buckets"])
        tasks = fenced_tasks(spark, Checkpoint(spark, checkpoint), target, asked)
        if pinned is None:
            pin.write({"buckets": tasks})
        elif tasks != asked:
            raise RunError(
                f"{target.pipeline}: its states are in {asked} buckets, each with a partition of"
                f" {target.topic} for its fence, and that has fewer now: begin with an empty"
                " checkpoint directory"
            )
        return tasks

    def _judged(self, rows: DataFrame, settings: RunSettings) -> DataFrame:
        from penstock.pipelines.keyed.store_processor import PACKED, BucketProcessor, figures

        tables = {name: source.open(settings) for name, source in self.tables.items()}
        processor = BucketProcessor(self.spec, self.topics, tables)
        counted = [f"n{number} long" for number, _ in enumerate(figures(self.spec))]
        schema = ", ".join([f"{PACKED} binary", *counted])
        return rows.groupBy("bucket").transformWithStateInPandas(
            processor, schema, outputMode="Append", timeMode="None"
        )

    def _sums(self) -> list[Column]:
        from pyspark.sql import functions as F

        from penstock.pipelines.keyed.store_processor import figures

        return [F.sum(f"n{number}").alias(name) for number, name in enumerate(figures(self.spec))]


def write_packed(
    target: Target, tasks: int, batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    from penstock.pipelines.keyed.store_processor import unpack

    return write_task(target, tasks, unpack(batches))


def _incoming(frame: DataFrame, buckets: int) -> DataFrame:
    """What the step needs of a record, and the bucket of its key."""
    from pyspark.sql import functions as F

    numbers = F.array(*(F.lit(each) for each in bucket_numbers(frame.sparkSession, buckets)))
    key = F.coalesce("_key", F.lit(b""))
    bucket = F.element_at(numbers, F.pmod(F.hash(key), F.lit(buckets)) + 1)
    return frame.select(
        bucket.alias("bucket"),
        F.col("_key").alias("key"),
        F.col(VALUE).alias("value"),
        F.col("_partition").alias("partition"),
        F.col("_offset").alias("offset"),
        F.unix_millis("_timestamp").alias("timestamp_ms"),
        # For dead letters alone: as text they cost nothing where there are none.
        F.when(F.size("_headers") > 0, F.to_json("_headers")).alias("headers"),
    )


def bucket_numbers(spark: SparkSession, buckets: int) -> list[int]:
    """Of bucket i a number that Spark's hash puts into partition i, so that each has one."""
    last = buckets * _CANDIDATES_PER_BUCKET
    row: Any = spark.sql(
        f"SELECT transform(sequence(0, {last}), each -> pmod(hash(each), {buckets})) AS places"
    ).first()
    places = list(row["places"])
    return [places.index(partition) for partition in range(buckets)]
