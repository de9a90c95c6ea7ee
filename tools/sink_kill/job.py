"""The process that is killed: one Spark session, a few queries from one topic, each to its own.

    python -m tools.sink_kill.job BOOTSTRAP FOLDER JOB...

It reads what there is and ends with code 0; a process after a killed one goes on where that was.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.pipelines import sinks
from penstock.pipelines.folder import as_uri
from penstock.pipelines.run.batch_log import BatchLog
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.sinks.fence import Target
from penstock.pipelines.sinks.task_producer import drop_producer
from penstock.pipelines.sinks.write import BATCH_ID, write_batch
from tools.sink_kill.split import SPLIT, outputs, split_pipeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SOURCE: Final = "source"
PARTITIONS: Final = 4
PIPELINE: Final = "under-fire"
WINDOW_S: Final = 60
LATENESS_S: Final = 3_000
BATCH_ROWS: Final = 2_000

COPY, COUNT, PLAIN, UNFENCED = "copy", "count", "plain", "unfenced"

OPTIONS: Final = {
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
}


def main() -> int:
    bootstrap, folder, *names = sys.argv[1:]
    from penstock.pipelines.session import session

    # A task whose worker is killed is tried again, four times in all.
    spark = session(master="local[2,4]", options=OPTIONS, lake=SPLIT in names)
    settings = RunSettings(bootstrap, Path(folder), trigger={"availableNow": True})
    queries = [_start(spark, settings, name) for name in names if name != SPLIT]
    if SPLIT in names:
        split_pipeline(SOURCE, outputs()).start(spark, settings).wait()
    while any(query.isActive for query in queries):
        time.sleep(0.1)
    return int(any(query.exception() is not None for query in queries))


def _start(spark: SparkSession, settings: RunSettings, name: str) -> StreamingQuery:
    checkpoint = str(Path(settings.directory) / name)
    BatchLog(spark, as_uri(checkpoint)).remove_draft()
    start: Callable[..., StreamingQuery] = sinks.topic(name).start
    rows = _source(spark, settings)
    if name == COUNT:
        rows = _count(rows)
    elif name == PLAIN:
        start = sinks.topic(name, delivery="at-least-once").start
    elif name == UNFENCED:
        start = _start_unfenced
    return start(
        rows.select("key", "value"),
        pipeline=PIPELINE,
        output=name,
        checkpoint=checkpoint,
        settings=settings,
        trigger=settings.trigger,
    )


def _source(spark: SparkSession, settings: RunSettings) -> DataFrame:
    reader = spark.readStream.format("kafka").options(**settings.spark_kafka())
    reader = reader.option("subscribe", SOURCE).option("startingOffsets", "earliest")
    return reader.option("maxOffsetsPerTrigger", BATCH_ROWS).load()


def _count(rows: DataFrame) -> DataFrame:
    """Records per key and window, each told once, when its time is over."""
    from pyspark.sql import functions as sql

    at = sql.timestamp_seconds(sql.col("value").cast("string").cast("long"))
    windows = rows.select("key", at.alias("at")).withWatermark("at", f"{LATENESS_S} seconds")
    counts = windows.groupBy("key", sql.window("at", f"{WINDOW_S} seconds")).count()
    start = sql.unix_timestamp("window.start")
    return counts.select("key", sql.concat_ws(":", start, "count").alias("value"))


def _start_unfenced(
    rows: DataFrame, *, output: str, checkpoint: str, settings: RunSettings, **_: Any
) -> StreamingQuery:
    """Transactions without the fence, to see that it is the fence that does it."""
    target = Target(PIPELINE, output, output, settings.client())
    written = rows.repartition(PARTITIONS, "key").mapInArrow(
        partial(_write_unfenced, target), "written long"
    )
    writer = written.writeStream.format("noop").option("checkpointLocation", checkpoint)
    return writer.trigger(availableNow=True).start()


def _write_unfenced(target: Target, batches: Iterator[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    # A name that no fence was ever set for: every batch looks new.
    nobody, task = uuid.uuid4().hex, context.partitionId()
    write_batch(target, nobody, task, int(context.getLocalProperty(BATCH_ID) or 0), batches)
    drop_producer(target, nobody, task)
    return iter(())


if __name__ == "__main__":
    sys.exit(main())
