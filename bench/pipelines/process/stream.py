"""Spark process for jobs without an end: the stateless verdicts, or the full detector.

`mark` begins a stretch, `durations` says where Spark's own time went since then: the median of
each part of its micro-batches, in milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from bench.pipelines.child import Handler, Spec, serve
from bench.pipelines.process import stateless
from penstock.pipelines import RunSettings, session


class Watch:
    def __init__(self, queries: Sequence[StreamingQuery]) -> None:
        self._queries = queries
        self._marks: dict[str, int] = {}

    def handle(self, word: str, _: Spec) -> Spec:
        for query in self._queries:
            error = query.exception()
            if error is not None:
                raise RuntimeError(f"query {query.name} failed: {str(error)[:500]}")
        if word == "check":
            return {}
        if word == "mark":
            self._marks = {str(one.id): _last_batch(one) for one in self._queries}
            return {"at": time.time()}
        if word == "durations":
            return {"queries": [self._since_mark(query) for query in self._queries]}
        raise ValueError(word)

    def _since_mark(self, query: StreamingQuery) -> dict[str, Any]:
        first = self._marks.get(str(query.id), -1)
        mine = [one for one in query.recentProgress if one["batchId"] > first]
        parts: dict[str, list[float]] = {}
        for progress in mine:
            for part, took in progress["durationMs"].items():
                parts.setdefault(part, []).append(took)
        return {
            "name": query.name or "query",
            "batches": len(mine),
            "rows": sum(one["numInputRows"] for one in mine),
            "median_ms": {part: median(took) for part, took in parts.items()},
            "longest_ms": max(parts.get("triggerExecution", [0])),
        }


def _last_batch(query: StreamingQuery) -> int:
    last = query.lastProgress
    return -1 if last is None else int(last["batchId"])


@contextmanager
def stream(spec: Spec) -> Iterator[Handler]:
    settings = RunSettings(
        bootstrap_servers=spec["bootstrap"], directory=Path(spec["folder"]) / "pipelines"
    )
    if spec["kind"] == "stateless":
        with _stateless(settings) as handle:
            yield handle
    else:
        with _detector(settings) as handle:
            yield handle


@contextmanager
def _stateless(settings: RunSettings) -> Iterator[Handler]:
    spark = session(name="bench")
    query = stateless.start(spark, settings)
    try:
        yield Watch([query]).handle
    finally:
        query.stop()
        spark.stop()


@contextmanager
def _detector(settings: RunSettings) -> Iterator[Handler]:
    """Started as `penstock pipeline run fraud` starts it."""
    from penstock.pipelines.jobs.fraud.job import fraud

    spark: SparkSession = session(name="bench", options=dict(fraud.options))
    running = fraud.start(spark, settings)
    try:
        yield Watch(running.queries).handle
    finally:
        running.stop()
        spark.stop()


if __name__ == "__main__":
    serve(stream)
