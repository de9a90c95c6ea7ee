"""A sink by itself, behind files that Spark reads as a stream."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from penstock.pipelines import sinks
from penstock.pipelines.run_settings import RunSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def work_off(spark: SparkSession, folder: Path, sink: sinks.Sink, schema: str) -> None:
    """What is in the folder `in`, a file a batch."""
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    sink.start(
        reader.json(str(folder / "in")),
        pipeline="pipe",
        output="out",
        checkpoint=str(folder / "checkpoint"),
        settings=RunSettings(directory=folder),
        trigger={"availableNow": True},
    ).awaitTermination()
