"""A keyed pipeline that runs: started once, watched, and started again after what may pass.

Each time it goes on from the positions in the state topic, with a fresh query; so a failure in the
middle of a batch needs no more care than a start.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from penstock.pipelines.breaker import BreakerWindow
from penstock.pipelines.error import RunError
from penstock.pipelines.keyed import preparation
from penstock.pipelines.keyed.claim import Claim, end_transactions
from penstock.pipelines.keyed.figure import Figures
from penstock.pipelines.keyed.history import KeyedHistory
from penstock.pipelines.keyed.placement import is_told
from penstock.pipelines.keyed.query import (
    Scratch,
    Span,
    is_real_time,
    lane_spec,
    require_possible,
    start_query,
)
from penstock.pipelines.keyed.redistribution import distributed_over, redistribute
from penstock.pipelines.keyed.report import ReportReader, reports_of
from penstock.pipelines.keyed.state_place import require_states_here
from penstock.pipelines.run.batch_boundary import wait_for_boundary
from penstock.pipelines.run.bound import Bound, settle
from penstock.pipelines.run.failure import LACKING, backoff_s, one_line
from penstock.pipelines.run.group_member import GroupMember
from penstock.pipelines.run.lag import EndWatch
from penstock.pipelines.run.lock import RunLock
from penstock.pipelines.run.watched_run import WatchedRun
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.keyed.state import Position
    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run_settings import RunSettings

_log = get_logger("pipelines.keyed")
_WATCH_S = 1
_GROWTH_S = 5.0
_BOUNDARY_S = 20.0
_HOPELESS = (
    "DeclarationError",
    "has taken over partition",
    "(data loss)",
    "USER_RAISED_EXCEPTION",  # as Spark says it where an expectation ends the run
    *LACKING,
)


def start_keyed(pipeline: KeyedPipeline, spark: SparkSession, settings: RunSettings) -> KeyedRun:
    require_possible(pipeline)
    require_states_here(pipeline, spark, settings)
    run = KeyedRun(pipeline, spark, settings)
    run.start()
    return run


class KeyedRun(WatchedRun):
    def __init__(self, pipeline: KeyedPipeline, spark: SparkSession, settings: RunSettings) -> None:
        super().__init__(pipeline.name, f"run-{pipeline.name}")
        self._pipeline = pipeline
        self._spark = spark
        self._settings = settings
        self._lock = RunLock(settings.home(pipeline.name), pipeline.name)
        self._member = GroupMember(pipeline.name, [pipeline.topic], settings)
        self._ends = EndWatch(settings)
        self._reports = ReportReader(settings.client(), pipeline.name, pipeline.topic)
        counted = lane_spec(pipeline, settings, "", 0).counted
        rules = pipeline.source.expect
        self._figures = Figures(pipeline.topic, counted, tuple(pipeline.outputs), rules)
        self._breaker = BreakerWindow(settings.breaker(pipeline.breaker))
        self._watched = (0, 0)
        self._bound = Bound()
        self._partitions = 0
        self._undecided = False
        """Whether the source has more, whose states cannot be told yet."""
        self._names: list[str] = []
        """Under which it has claimed the partitions, the last one being in force."""
        self._next_look = time.monotonic() + _GROWTH_S
        self._drain: Mapping[int, int] | None = None
        self._query: StreamingQuery | None = None
        self._scratch: Scratch | None = None
        self._restarts = 0
        self._failures = 0

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
        self._watcher.start()

    def progress(self) -> Progress:
        return self._figures.progress(self._restarts)

    def _begin(self, *, first: bool = False) -> None:
        pipeline, settings = self._pipeline, self._settings
        self._partitions = count = preparation.ensure_topics(pipeline, settings)
        history = KeyedHistory(pipeline, self._spark, settings, count)
        if first:
            places = [(pipeline.topic, each) for each in range(count)]
            self._bound = settle(pipeline.name, self._spark, settings, places, history)
        else:
            self._require_own(preparation.positions(pipeline, settings, count))
        claim = Claim(pipeline, settings.client(), count)
        found = preparation.positions(pipeline, settings, count)
        if not first:
            self._require_own(found)
            # With the positions stands all that was counted, also what nobody could ask for while
            # the broker was away; now that it is fenced out, nothing is added to it.
            self._figures.take(reports_of(found, self._names[-1]))
        self._names.append(claim.run)
        dealt = distributed_over(found)
        self._undecided = False
        if dealt is not None and dealt != count:
            moved_to = redistribute(pipeline, settings, found, count, claim.run)
            self._undecided = moved_to is None
            if moved_to is None:
                self._partitions = count = dealt
            else:
                found = moved_to
        known = {partition: each.offset for partition, each in found.items()}
        group = self._member.committed() if first else {}
        moved = preparation.moved_group(pipeline, settings, known, group)
        begin = {partition: at for (_, partition), at in self._bound.start.items()}
        starts = preparation.starts(pipeline, settings, {**known, **moved}, count, begin)
        if moved or not known:
            history.begin(starts)
        claim.write(starts, forget=bool(moved))
        self._figures.new_query(starts, self._end_offsets())
        self._scratch = Scratch(settings.home(pipeline.name), claim.run)
        spec = lane_spec(pipeline, settings, claim.run, count)
        span = Span(starts, self._bound.end)
        self._query = start_query(pipeline, self._spark, settings, spec, span, self._scratch)

    def _end_offsets(self) -> dict[int, int]:
        """Where a bounded run ends, by partition."""
        return {partition: at for (_, partition), at in self._bound.end.items()}

    def _require_own(self, found: Mapping[int, Position]) -> None:
        """A run that begins again must not take back what a newer one has taken from it."""
        for partition, position in found.items():
            if position.run not in self._names:
                raise RunError(
                    f"a newer run of {self._pipeline.name} has taken over partition {partition}:"
                    " stop one of the two"
                )

    def _keep_going(self) -> None:
        while not self._stopping.is_set() and self._goes_on():
            pass

    def _goes_on(self) -> bool:
        """Look after the query for a moment; False when it has come to its end by itself."""
        from pyspark.errors import StreamingQueryException

        assert self._query is not None
        try:
            ended = self._query.awaitTermination(_WATCH_S)
            self._collect()
            self._watch_share()
            if ended or self._is_at_its_end():
                return False
            if self._has_grown():
                self._begin_anew()
            return True
        except StreamingQueryException as error:
            self._collect(last=True)
            self._again(error)
            return True

    def _is_at_its_end(self) -> bool:
        ends = self._end_offsets()
        return bool(ends) and self._figures.has_reached(ends)

    def _watch_share(self) -> None:
        """Stop where too much goes to the dead letters."""
        told = self._figures.progress(0)
        rows, letters = told.input_rows - self._watched[0], told.dead_letters - self._watched[1]
        self._watched = told.input_rows, told.dead_letters
        tripped = self._breaker.add(time.monotonic(), rows, letters) if rows else None
        if tripped is not None:
            name, topic = self._pipeline.name, self._pipeline.dead_letters
            raise RunError(tripped.told(name, topic, self._breaker.breaker.share))

    def _again(self, reason: Exception) -> None:
        """Start anew after a failure, with patience; a failure that stays ends the run."""
        while not self._stopping.is_set():
            self._failures += 1
            line = one_line(reason)
            hopeless = any(word in str(reason) for word in _HOPELESS)
            if hopeless or self._failures > self._settings.retries_max:
                raise RunError(f"{self._pipeline.name} has stopped: {line}") from reason
            _log.warning("starting again", pipeline=self._pipeline.name, after=line)
            self._stopping.wait(backoff_s(self._settings.retry_backoff_s, self._failures))
            self._sweep()
            try:
                self._begin()
            except RunError as error:
                reason = error
            else:
                self._restarts += 1
                return

    def _collect(self, *, last: bool = False) -> None:
        assert self._query is not None
        said = self._query.lastProgress
        if said is not None:
            self._figures.add(json.loads(said.json))
        read = self._reports.read_last if last else self._reports.read
        if self._figures.take(read(self._names[-1], self._partitions)):
            self._failures = 0
        places = [(self._pipeline.topic, each) for each in range(self._partitions)]
        self._figures.ends(self._bound.within(self._ends.look(places)))

    def _has_grown(self) -> bool:
        """Whether the source has more partitions now, and all that was in the old ones is done."""
        if self._drain is None and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _GROWTH_S
            own = self._pipeline, self._settings, self._partitions
            if not self._undecided or is_told(*own):
                self._drain = preparation.ends_if_grown(*own)
        return self._drain is not None and self._figures.has_reached(self._drain)

    def _begin_anew(self) -> None:
        """States have to follow their keys, while no task is at work."""
        self._end_query()
        self._sweep()
        self._drain = None
        self._begin()

    def _close(self) -> None:
        try:
            self._end_query()
        except Exception as error:
            # Java may be gone; whoever waits for the end must hear of it all the same.
            _log.debug("not ended in order", pipeline=self._pipeline.name, error=str(error))
        self._sweep()
        self._reports.close()
        self._member.leave()
        self._lock.release()

    def _end_query(self) -> None:
        query = self._query
        if query is None:
            return
        if query.isActive:
            if not is_real_time(self._settings):
                # Of a batch that takes too long the next run does what is not committed yet.
                wait_for_boundary(query, _BOUNDARY_S)
            query.stop()
            end_transactions(self._pipeline, self._settings.client(), self._partitions)
        self._collect(last=True)

    def _sweep(self) -> None:
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None
