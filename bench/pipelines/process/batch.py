"""Spark process for jobs with an end: copy a topic through a sink, or read one in a batch job.

`copy {"source", "target", "delivery"}` and `read {"topic"}` answer with rows and seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from bench.pipelines.child import Handler, Spec, serve
from penstock.pipelines import RunSettings, session, sinks, sources
from penstock.pipelines.sinks.topic import Delivery


class Batch:
    def __init__(self, spark: SparkSession, spec: Spec) -> None:
        self._spark = spark
        self._folder = Path(spec["folder"])
        self._settings = RunSettings(
            bootstrap_servers=spec["bootstrap"], directory=self._folder / "pipelines"
        )
        self._serial = 0

    def handle(self, word: str, spec: Spec) -> Spec:
        if word == "copy":
            return self._copy(**spec)
        if word == "read":
            return self._read(**spec)
        raise ValueError(word)

    def _copy(self, source: str, target: str, delivery: Delivery) -> Spec:
        self._serial += 1
        frame = sources.topic(source).stream(self._spark, self._settings).select("key", "value")
        began = time.monotonic()
        query = sinks.topic(target, delivery=delivery).start(
            frame,
            pipeline=f"copy-{self._serial}",
            output="copy",
            checkpoint=str(self._folder / f"checkpoint-{self._serial}"),
            settings=self._settings,
            trigger={"availableNow": True},
        )
        query.awaitTermination()
        elapsed = time.monotonic() - began
        rows = sum(progress["numInputRows"] for progress in query.recentProgress)
        return {"rows": rows, "seconds": elapsed}

    def _read(self, topic: str) -> Spec:
        """As a user would write it, without an option of ours."""
        began = time.monotonic()
        row = (
            self._spark.read.format("kafka")
            .option("kafka.bootstrap.servers", self._settings.bootstrap_servers)
            .option("subscribe", topic)
            .load()
            .selectExpr("count(*) AS records", "sum(length(value)) AS bytes")
            .first()
        )
        assert row is not None
        elapsed = time.monotonic() - began
        return {"rows": row["records"], "bytes": row["bytes"], "seconds": elapsed}


@contextmanager
def batch(spec: Spec) -> Iterator[Handler]:
    spark = session(name="bench")
    try:
        yield Batch(spark, spec).handle
    finally:
        spark.stop()


if __name__ == "__main__":
    serve(batch)
