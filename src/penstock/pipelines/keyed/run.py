"""A keyed pipeline that runs: started once, watched, and started again after what may pass.

Each time it goes on from the positions in the state topic, with a fresh query; so a failure in the
middle of a batch needs no more care than a start.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError, PipelineError, RunError
from penstock.pipelines.keyed import preparation
from penstock.pipelines.keyed.figure import Figures
from penstock.pipelines.keyed.query import HALT, lane_spec, scratch_directory, start_query
from penstock.pipelines.keyed.redistribution import distributed_over, redistribute
from penstock.pipelines.run.failure import LACKING, one_line
from penstock.pipelines.run.group_member import GroupMember
from penstock.pipelines.run.lag import EndWatch
from penstock.pipelines.run.lock import RunLock
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run_settings import RunSettings

_log = get_logger("pipelines.keyed")
_WATCH_S = 1
_GROWTH_S = 5.0
_BOUNDARY_S = 20.0
_BACKOFF_MAX_S = 10.0
_HOPELESS = ("DeclarationError", "has taken over partition", "(data loss)", *LACKING)


def start_keyed(pipeline: KeyedPipeline, spark: SparkSession, settings: RunSettings) -> KeyedRun:
    if pipeline.source.options:
        raise DeclarationError(
            f"{pipeline.name}: a keyed pipeline reads its topic itself, and takes no option of"
            f" Spark's source: leave out {', '.join(pipeline.source.options)}"
        )
    run = KeyedRun(pipeline, spark, settings)
    run.start()
    return run


class KeyedRun:
    def __init__(self, pipeline: KeyedPipeline, spark: SparkSession, settings: RunSettings) -> None:
        self._pipeline = pipeline
        self._spark = spark
        self._settings = settings
        self._lock = RunLock(settings.home(pipeline.name), pipeline.name)
        self._member = GroupMember(pipeline.name, [pipeline.topic], settings)
        self._ends = EndWatch(settings)
        self._figures = Figures(pipeline.topic, tuple(pipeline.outputs))
        self._partitions = 0
        self._starting: Mapping[int, int] = {}
        self._next_look = time.monotonic() + _GROWTH_S
        self._drain: Mapping[int, int] | None = None
        self._run_ms = int(time.time() * 1000)
        self._query: StreamingQuery | None = None
        self._scratch: Path | None = None
        self._restarts = 0
        self._failures = 0
        self._failure: PipelineError | None = None
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name=f"run-{pipeline.name}", daemon=True
        )

    @property
    def queries(self) -> Sequence[StreamingQuery]:
        return [] if self._query is None else [self._query]

    def start(self) -> None:
        self._lock.acquire()
        try:
            self._member.refuse_if_running()
            if self._pipeline.prepare is not None:
                self._pipeline.prepare(self._settings)
            self._begin(first=True)
            self._member.join()
        except BaseException:
            self._lock.release()
            raise
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def wait(self, timeout_s: float | None = None) -> bool:
        ended = self._ended.wait(timeout_s)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    def progress(self) -> Progress:
        return self._figures.progress(self._restarts)

    def _begin(self, *, first: bool = False) -> None:
        pipeline, settings = self._pipeline, self._settings
        run_ms = self._run_ms
        self._partitions = preparation.ensure_topics(pipeline, settings)
        found = preparation.positions(pipeline, settings, self._partitions)
        if distributed_over(found) not in (None, self._partitions):
            preparation.end_transactions(pipeline, settings.client(), self._partitions)
            found = redistribute(pipeline, settings, found, self._partitions, run_ms)
        known = {partition: each.offset for partition, each in found.items()}
        if first:
            group = self._member.committed()
            known = preparation.follow_group(
                pipeline, settings, known, group, run_ms, self._partitions
            )
            # A partition that came up since the last run is read from its beginning.
            if not known:
                self._starting = preparation.starting_offsets(pipeline, settings, self._partitions)
        begun = {each: self._starting.get(each, 0) for each in range(self._partitions)}
        self._figures.new_query({**begun, **known})
        self._scratch = scratch_directory(pipeline)
        spec = lane_spec(pipeline, settings, run_ms, self._partitions, self._starting)
        cores = self._spark.sparkContext.defaultParallelism
        spec = replace(spec, slots=min(self._partitions, cores), halt=str(self._scratch / HALT))
        self._query = start_query(pipeline, self._spark, settings, spec, self._scratch)

    def _watch(self) -> None:
        try:
            while not self._stopping.is_set() and self._goes_on():
                pass
        except PipelineError as error:
            self._failure = error
        except Exception as error:
            self._failure = RunError(f"{self._pipeline.name} has stopped: {one_line(error)}")
        finally:
            self._end()

    def _goes_on(self) -> bool:
        """Look after the query for a moment; False when it has come to its end by itself."""
        from pyspark.errors import StreamingQueryException

        assert self._query is not None
        try:
            ended = self._query.awaitTermination(_WATCH_S)
            self._collect()
            if not ended and self._has_grown():
                self._begin_anew()
            return not ended
        except StreamingQueryException as error:
            self._collect()
            self._again(error)
            return True

    def _again(self, reason: Exception) -> None:
        """Start anew after a failure, with patience; a failure that stays ends the run."""
        while not self._stopping.is_set():
            self._failures += 1
            line = one_line(reason)
            hopeless = any(word in str(reason) for word in _HOPELESS)
            if hopeless or self._failures > self._settings.retries_max:
                raise RunError(f"{self._pipeline.name} has stopped: {line}") from reason
            _log.warning("starting again", pipeline=self._pipeline.name, after=line)
            self._halt()
            wait_s = self._settings.retry_backoff_s * 2 ** (self._failures - 1)
            self._stopping.wait(min(wait_s, _BACKOFF_MAX_S))
            self._sweep()
            try:
                self._begin()
            except RunError as error:
                reason = error
            else:
                self._restarts += 1
                return

    def _collect(self) -> None:
        assert self._query is not None
        for document in _documents(self._query):
            if self._figures.add(document):
                self._failures = 0
        places = [(self._pipeline.topic, each) for each in range(self._partitions)]
        self._figures.ends(self._ends.look(places))

    def _has_grown(self) -> bool:
        """Whether the source has more partitions now, and all that was in the old ones is done."""
        if self._drain is None and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _GROWTH_S
            self._drain = preparation.ends_if_grown(
                self._pipeline, self._settings, self._partitions
            )
        return self._drain is not None and self._figures.has_reached(self._drain)

    def _begin_anew(self) -> None:
        """States have to follow their keys, while no task is at work."""
        self._end_query()
        self._sweep()
        self._drain = None
        self._begin()

    def _end(self) -> None:
        self._end_query()
        self._sweep()
        self._member.leave()
        self._lock.release()
        self._ended.set()

    def _end_query(self) -> None:
        query = self._query
        if query is not None and query.isActive:
            self._halt()
            self._to_boundary(query)
            query.stop()
            self._collect()
            preparation.end_transactions(self._pipeline, self._settings.client(), self._partitions)

    def _halt(self) -> None:
        """Have tasks end after the transaction under way, also one that Spark has given up."""
        if self._scratch is not None:
            (self._scratch / HALT).touch()

    def _to_boundary(self, query: StreamingQuery) -> None:
        """Let the tasks under way end; what one on another machine does by then is taken back."""
        before = (query.lastProgress or {"batchId": -1})["batchId"]
        deadline = time.monotonic() + _BOUNDARY_S
        while time.monotonic() < deadline and query.status["isTriggerActive"]:
            if (query.lastProgress or {"batchId": -1})["batchId"] != before:
                return
            time.sleep(0.01)

    def _sweep(self) -> None:
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None


def _documents(query: StreamingQuery) -> list[dict[str, Any]]:
    """Progress of the last batches as plain JSON, oldest first."""
    return [json.loads(each.json) for each in query.recentProgress]
