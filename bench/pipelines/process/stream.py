"""Spark process for jobs without an end: the stateless verdicts, or the full detector.

`mark` begins a stretch, `durations` says where Spark's own time went since then: the median of
each part of its micro-batches, in milliseconds; `session` says when Spark itself was up.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from bench.pipelines.child import Handler, Spec, serve
from penstock.pipelines import Pipeline, RunSettings, session
from penstock.pipelines.jobs.fraud.job import fraud
from penstock.pipelines.jobs.fraud.stateless import fraud_stateless
from penstock.pipelines.keyed import KeyedPipeline

# Verdicts stall at the boundary between two real-time batches.
REAL_TIME_BATCH = "60 seconds"
# As `docs/fraud.md` says for thousands of payments a second.
ROWS_AT_ONCE = "spark.sql.execution.arrow.maxRecordsPerBatch"
PIPELINES: Mapping[str, Pipeline | KeyedPipeline] = {
    "stateless": fraud_stateless,
    "detector": fraud,
    "realtime": fraud,
    "store": replace(fraud, state_in="spark"),
}


class Watch:
    def __init__(
        self,
        queries: Callable[[], Sequence[StreamingQuery]],
        check: Callable[[], None],
        session_at: float,
    ) -> None:
        self._queries = queries
        self._check = check
        self._session_at = session_at
        self._marks: dict[str, int] = {}

    def handle(self, word: str, _: Spec) -> Spec:
        self._check()
        if word == "check":
            return {}
        if word == "session":
            return {"at": self._session_at}
        if word == "mark":
            self._marks = {str(one.id): _last_batch(one) for one in self._queries()}
            return {"at": time.time()}
        if word == "durations":
            return {"queries": [self._since_mark(query) for query in self._queries()]}
        raise ValueError(word)

    def _since_mark(self, query: StreamingQuery) -> dict[str, Any]:
        """Of the batches that Spark still remembers, which are the last hundred."""
        first = self._marks.get(str(query.id), -1)
        everything = [json.loads(one.json) for one in query.recentProgress]
        mine = [one for one in everything if one["batchId"] > first and one["numInputRows"]]
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
    kind = spec["kind"]
    pipeline = PIPELINES[kind]
    if kind == "stateless":
        settings = replace(settings, trigger={"realTime": REAL_TIME_BATCH})
    if kind == "realtime":
        settings = replace(
            settings,
            trigger={"realTime": "5 minutes"},
            options={ROWS_AT_ONCE: str(spec["rows_at_once"])},
        )
    with _running(pipeline, settings) as watch:
        yield watch.handle


@contextmanager
def _running(pipeline: Pipeline | KeyedPipeline, settings: RunSettings) -> Iterator[Watch]:
    """Started as `penstock pipeline run` starts it."""
    spark = session(name="bench", options=pipeline.options)
    session_at = time.time()
    running = pipeline.start(spark, settings)

    def check() -> None:
        if running.wait(0):
            raise RuntimeError(f"{pipeline.name} has ended by itself")

    try:
        yield Watch(lambda: running.queries, check, session_at)
    finally:
        running.stop()
        spark.stop()


if __name__ == "__main__":
    serve(stream)
