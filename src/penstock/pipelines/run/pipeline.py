"""A DataFrame pipeline that runs: its queries kept going, its batches followed up.

After each batch its dead letters and late rows are written, then its offsets are committed for
the pipeline's group; so what the group has committed is entirely done with.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.pipelines.breaker import BreakerWindow
from penstock.pipelines.error import PipelineError, RunError
from penstock.pipelines.folder import Document
from penstock.pipelines.run.batch_log import BatchLog
from penstock.pipelines.run.bound import BatchHistory, Bound, settle
from penstock.pipelines.run.checkpoint_layout import CheckpointLayout, least
from penstock.pipelines.run.failure import backoff_s, is_transient, one_line
from penstock.pipelines.run.group_member import GroupMember, partitions_of
from penstock.pipelines.run.lag import EndWatch
from penstock.pipelines.run.layout import QueryLayout
from penstock.pipelines.run.lock import RunLock
from penstock.pipelines.run.output_query import OutputQuery
from penstock.pipelines.run.plan import (
    Arguments,
    arguments_of,
    batch_frames,
    judged_frame,
    output_frames,
    positions_json,
    source_names,
    used_inputs,
)
from penstock.pipelines.run.progress_count import ProgressCount
from penstock.pipelines.run.query_report import QueryReport, listener
from penstock.pipelines.run.rejected import RejectedRows
from penstock.pipelines.run.shared_query import SharedQuery
from penstock.pipelines.run.sharing import sharing_outputs
from penstock.pipelines.run.spark_setting import configured
from penstock.pipelines.run.watched_run import WatchedRun
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.declare import Pipeline
    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run_settings import RunSettings

_log = get_logger("pipelines.run")
_WATCH_S = 0.05
_PATIENCE_S = 60.0
_REPORTS_S = 20.0
_RETAINED = "spark.sql.streaming.minBatchesToRetain"


def start_pipeline(pipeline: Pipeline, spark: SparkSession, settings: RunSettings) -> PipelineRun:
    run = PipelineRun(pipeline, spark, settings)
    run.start()
    return run


class PipelineRun(WatchedRun):
    def __init__(self, pipeline: Pipeline, spark: SparkSession, settings: RunSettings) -> None:
        thread = f"run-{pipeline.name}"
        super().__init__(pipeline.name, thread)
        self._pipeline = pipeline
        self._spark = spark
        self._settings = settings
        home = settings.checkpoint_home(pipeline.name)
        self._checkpoints = CheckpointLayout(spark, home, pipeline.outputs)
        self._owners = Document(self._checkpoints.home, "owners")
        self._lock = RunLock(settings.home(pipeline.name), pipeline.name)
        self._member = GroupMember(pipeline.name, _group_topics(pipeline), settings)
        self._count = ProgressCount(rules=_rules(pipeline))
        self._breaker = BreakerWindow(settings.breaker(pipeline.breaker))
        self._ends = EndWatch(settings)
        self._bound = Bound()
        self._outputs: list[OutputQuery] = []
        self._by_run: dict[str, OutputQuery] = {}
        self._starting = threading.Lock()
        self._reports: queue.SimpleQueue[QueryReport] = queue.SimpleQueue()
        self._ended_runs: set[str] = set()
        self._reports_max = _reports_max(spark, {**pipeline.options, **settings.options})
        self._listener = listener(self._reports)
        follower = f"{thread}-batches"
        self._follower = threading.Thread(target=self._follow, name=follower, daemon=True)

    # What others see

    @property
    def queries(self) -> Sequence[StreamingQuery]:
        return [output.query for output in self._outputs if output.query is not None]

    def progress(self) -> Progress:
        return self._count.progress()

    # Starting

    def start(self) -> None:
        self._lock.acquire()
        try:
            self._member.refuse_if_running()
            self._member.join()
            self._plan()
            self._spark.streams.addListener(self._listener)
            self._follower.start()
            self._start_queries()
        except BaseException:
            self._close()
            raise
        self._watcher.start()

    def _plan(self) -> None:
        settings, pipeline = self._settings, self._pipeline
        places = partitions_of(settings, _group_topics(pipeline))
        history = BatchHistory(pipeline, self._spark, settings)
        self._bound = settle(pipeline.name, self._spark, settings, places, history)
        starting, anew = self._starting_offsets()
        with configured(self._spark, {**pipeline.options, **settings.options}):
            arguments = self._arguments(_by_input(settings, pipeline, starting))
            frames = output_frames(pipeline, arguments)
            sharing = sharing_outputs(pipeline, settings, arguments, frames)
            layout = self._checkpoints.settle(pipeline.name, sharing, starting if anew else None)
            self._outputs = [self._query(each, arguments, frames) for each in layout]

    def _arguments(self, starting: Mapping[str, str]) -> Arguments:
        return arguments_of(self._pipeline, self._spark, self._settings, starting, self._bound.end)

    def _starting_offsets(self) -> tuple[Mapping[tuple[str, int], int], bool]:
        """Offsets to begin with, where they are not those of the settings; and whether all
        begins anew, because state and positions of old checkpoints do not fit them."""
        group = self._member.committed()
        own = self._bound.within(self._checkpoints.positions())
        if self._settings.from_group and group:
            return group, any(own.get(where, -1) != offset for where, offset in group.items())
        behind = {where for where, offset in group.items() if own.get(where, offset) != offset}
        if behind or (group and not own):
            _log.warning(
                "the group's offsets are not where this pipeline stands; going on from its own"
                " position (--from-group takes the group's)",
                pipeline=self._pipeline.name,
            )
        return self._bound.start, False

    def _query(
        self, layout: QueryLayout, arguments: Arguments, frames: Mapping[str, DataFrame]
    ) -> OutputQuery:
        checkpoint = self._checkpoints.home.path(layout.folder or layout.name)
        log = BatchLog(self._spark, checkpoint)
        if layout.begin is not None and log.last_planned() < 0:
            # It takes the place of others, and goes on where those stood.
            arguments = self._arguments(_by_input(self._settings, self._pipeline, layout.begin))
            frames = output_frames(self._pipeline, arguments)
        names = layout.name, layout.outputs
        rejected = RejectedRows(self._spark, self._pipeline, *names, self._settings, log)
        rejected.ends = self._bound.end
        if layout.input is None:
            frame = frames[layout.name]
            begin, shared = self._own(layout.name, frame, checkpoint), None
            inputs = used_inputs(frame)
        else:
            shared, inputs = self._shared(layout, arguments, frames), (layout.input,)
            begin = partial(shared.start, checkpoint, self._settings)
        query = OutputQuery(*names, self._pipeline, begin, rejected, shared, inputs)
        query.positions = log.positions()
        return query

    def _own(self, output: str, frame: DataFrame, checkpoint: str) -> Callable[[], StreamingQuery]:
        return partial(
            self._pipeline.outputs[output].start,
            judged_frame(self._pipeline, output, frame, self._settings),
            pipeline=self._pipeline.name,
            output=output,
            checkpoint=checkpoint,
            settings=self._settings,
            trigger=self._settings.trigger,
        )

    def _shared(
        self, layout: QueryLayout, arguments: Arguments, frames: Mapping[str, DataFrame]
    ) -> SharedQuery:
        assert layout.input is not None
        make = partial(batch_frames, self._pipeline, arguments, layout.input)
        rows = arguments[layout.input]
        return SharedQuery(self._pipeline, layout.outputs, frames, rows, make)

    def _start_queries(self) -> None:
        wanted = {**self._pipeline.options, **self._settings.options}
        with configured(self._spark, wanted):
            for output in self._outputs:
                try:
                    self._start_output(output)
                except Exception as error:
                    self._failed(output, error)

    def _start_output(self, output: OutputQuery) -> None:
        # Reports of the query wait until it is known whose they are.
        with self._starting:
            output.rejected.log.remove_draft()
            ended = output.rejected.log.last_committed()
            output.start()
            assert output.query is not None
            run_id = str(output.query.runId)
            self._by_run[run_id] = output
            self._reports.put(QueryReport(run_id, ended_before=ended))

    # Watching

    def _keep_going(self) -> None:
        while not self._stopping.is_set() and self._failure is None:
            for output in self._outputs:
                self._look_after(output)
            if all(output.finished for output in self._outputs):
                return
            self._count.ends(self._bound.within(self._ends.look(self._count.places())))
            self._stopping.wait(_WATCH_S)

    def _look_after(self, output: OutputQuery) -> None:
        if output.finished:
            return
        if self._bound.is_reached(output.positions):
            output.stop_between_batches(_PATIENCE_S)
            output.finished = True
            return
        if output.query is not None and output.query.isActive:
            self._hold_back(output)
            return
        error = output.query.exception() if output.query is not None else None
        if error is None and output.waits:
            if self._reports.qsize() > self._reports_max // 2:
                return
        elif output.query is not None and error is None:
            output.finished = True
            return
        output.waits = False
        if error is not None:
            self._failed(output, error)
        self._again(output)

    def _hold_back(self, output: OutputQuery) -> None:
        """Batches that end faster than they are followed up would be gone from Spark's own record
        of them before their dead letters are written."""
        if self._reports.qsize() > self._reports_max:
            _log.info("waits for dead letters", pipeline=self._pipeline.name, output=output.name)
            output.waits = True
            output.stop_between_batches(_PATIENCE_S)

    def _failed(self, output: OutputQuery, error: Exception) -> None:
        """Count a failure that may pass; raise one that will not, or that came too often."""
        if isinstance(error, PipelineError) and not is_transient(error):
            raise error
        output.failures += 1
        line = one_line(error)
        if not is_transient(error):
            raise RunError(f"{self._pipeline.name}, output {output.failing}: {line}") from error
        if output.failures > self._settings.retries_max:
            raise RunError(
                f"{self._pipeline.name}, output {output.failing}: gave up after"
                f" {output.failures} failures in a row, the last one: {line}"
            ) from error
        self._count.add(restarts=1)
        name = self._pipeline.name
        _log.warning("starting again", pipeline=name, output=output.failing, after=line)

    def _again(self, output: OutputQuery) -> None:
        if self._stopping.wait(backoff_s(self._settings.retry_backoff_s, output.failures)):
            return
        try:
            with configured(self._spark, {**self._pipeline.options, **self._settings.options}):
                self._start_output(output)
        except Exception as error:
            output.query = None
            self._failed(output, error)

    # Following up batches

    def _follow(self) -> None:
        while True:
            report = self._reports.get()
            if not report.run_id:
                return
            with self._starting:
                output = self._by_run.get(report.run_id)
            if output is None:
                continue
            try:
                self._take(output, report)
            except Exception as error:
                self._failure = RunError(
                    f"{self._pipeline.name}: dead letters and late rows could not be written:"
                    f" {one_line(error)}"
                )
                self._ended_runs.add(report.run_id)

    def _take(self, output: OutputQuery, report: QueryReport) -> None:
        if report.ended_before is not None:
            self._finish_earlier(output, report.ended_before)
            return
        if report.progress is None:
            self._ended_runs.add(report.run_id)
            return
        number = int(report.progress["batchId"])
        if number <= output.seen_batch or not output.rejected.log.is_committed(number):
            return  # reported again while the query had nothing to do
        progress = output.told(report.progress)
        self._own_inputs(output, number)
        self._watch_share(*output.rows_and_poison(progress))
        self._catch_up(output, number)
        self._see_to(output, number, output.search(progress))
        self._count.judged(output.judged(progress))
        output.read_up_to(progress)
        output.failures = 0
        read = None if output is self._outputs[0] else 0
        if read is None and self._bound.end:
            read = output.rows_and_poison(progress)[0]  # Spark counts what lies behind the end
        self._count.batch(progress, read=read)
        output.batch_ended(number)
        self._commit()

    def _watch_share(self, rows: int, poison: int) -> None:
        """Stop where too much goes to the dead letters; what has ended is still followed up."""
        tripped = self._breaker.add(time.monotonic(), rows, poison)
        if tripped is None or self._failure is not None:
            return
        name, topic = self._pipeline.name, self._pipeline.dead_letters
        self._failure = RunError(tripped.told(name, topic, self._breaker.breaker.share))

    def _own_inputs(self, output: OutputQuery, batch: int) -> None:
        """The first query to read an input tells its dead letters, in this run and all others."""
        if output.rejected.inputs:
            return
        sources = output.rejected.log.batch(batch).ends
        if any(each is None for each in sources):
            return
        topics = [each or {} for each in sources]
        output.rejected.inputs = source_names(self._pipeline, topics, output.inputs)
        owners = self._owners.read() or {}
        names = {each.name for each in self._outputs}
        new = [each for each in output.rejected.inputs if owners.get(each) not in names]
        if new:
            owners |= dict.fromkeys(new, output.name)
            self._owners.write(owners)
        own = (name for name in output.rejected.inputs if owners[name] == output.name)
        output.owns_poison = frozenset(own)

    def _finish_earlier(self, output: OutputQuery, ended: int) -> None:
        if ended <= output.seen_batch:
            return
        self._own_inputs(output, ended)
        if output.rejected.inputs:
            self._catch_up(output, ended + 1)
            output.batch_ended(ended)
            self._commit()

    def _catch_up(self, output: OutputQuery, number: int) -> None:
        """Batches that ended and were not handled, because the last run was killed."""
        first = output.rejected.first_open() if output.seen_batch < 0 else output.seen_batch + 1
        for missed in range(first, number):
            self._see_to(output, missed, output.everything())

    def _see_to(self, output: OutputQuery, number: int, search: Any) -> None:
        for attempt in range(self._settings.retries_max + 1):
            try:
                found = output.rejected.see_to(number, search)
                self._count.add(dead_letters=found.dead_letters, late=found.late)
                return
            except Exception as error:
                output.rejected.close()
                if attempt == self._settings.retries_max or not is_transient(error):
                    raise
                time.sleep(backoff_s(self._settings.retry_backoff_s, attempt + 1))

    def _commit(self) -> None:
        if not all(output.positions for output in self._outputs):
            return  # an output that has not begun yet holds the others' offsets back
        positions = self._bound.within(least([output.positions for output in self._outputs]))
        self._count.stand(positions)
        self._member.commit(positions)

    # Ending

    def _close(self) -> None:
        self._stopping.set()
        for output in self._outputs:
            try:
                output.stop_between_batches(_PATIENCE_S)
            except Exception as error:
                _log.warning("a query did not stop", query=output.name, error=one_line(error))
            if output.shared is not None:
                output.shared.close()
        try:
            self._drain()
            for output in self._outputs:
                output.rejected.close()
            self._member.leave()
        except Exception as error:
            # Spark itself may be gone, killed with its process group.
            _log.warning("not all was put in order", error=one_line(error))
        finally:
            self._lock.release()

    def _drain(self) -> None:
        """Until every report on its way is handled; Spark's own end comes last."""
        if not self._follower.is_alive():
            return
        deadline = time.monotonic() + _REPORTS_S
        while set(self._by_run) - self._ended_runs and time.monotonic() < deadline:
            time.sleep(_WATCH_S / 5)
        self._reports.put(QueryReport(""))
        self._follower.join()
        self._spark.streams.removeListener(self._listener)


def _reports_max(spark: SparkSession, options: Mapping[str, str]) -> int:
    """How many batches may wait to be followed up: a part of those that Spark keeps a record of."""
    retained = options.get(_RETAINED) or spark.conf.get(_RETAINED, "100") or "100"
    return max(1, int(retained) // 4)


def _rules(pipeline: Pipeline) -> list[tuple[str, str]]:
    """Every expectation: the input or output it is of, and its name."""
    by_place = {name: source.expect for name, source in pipeline.inputs.items()}
    places = [*by_place.items(), *pipeline.expect.items()]
    return [(place, each.name) for place, rules in places for each in rules]


def _group_topics(pipeline: Pipeline) -> list[str]:
    found: list[str] = []
    for source in pipeline.inputs.values():
        found += source.topics if source.pattern is None else [f"^{source.pattern}$"]
    return list(dict.fromkeys(found))


def _by_input(
    settings: RunSettings, pipeline: Pipeline, offsets: Mapping[tuple[str, int], int]
) -> dict[str, str]:
    """Partitions that have no offset there begin at their beginning; with none, as it is set."""
    found: dict[str, str] = {}
    if not offsets:
        return found
    for name, source in pipeline.inputs.items():
        names = source.topics if source.pattern is None else (f"^{source.pattern}$",)
        places = partitions_of(settings, names)
        found[name] = positions_json({each: offsets.get(each, -2) for each in places})
    return found
