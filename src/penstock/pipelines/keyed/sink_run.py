"""A keyed pipeline that runs together with the one that writes its outputs to sinks.

They share nothing but topics, and each is exactly once by itself. Here is what makes them one run:
if one fails both end, and when judging has come to an end, what it wrote is written off first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import PipelineError
from penstock.pipelines.keyed.sink_pipeline import writing_pipeline
from penstock.pipelines.run.watched_run import WatchedRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run.runner import Running
    from penstock.pipelines.run_settings import RunSettings

_LOOK_S = 0.2
_TO_THE_END = {"availableNow": True}


def start_with_sinks(
    pipeline: KeyedPipeline,
    spark: SparkSession,
    settings: RunSettings,
    judge: Callable[[], Running],
) -> SinkRun:
    """`judge` starts the keyed pipeline itself."""
    sinks = writing_pipeline(pipeline)

    def write(trigger: Mapping[str, Any]) -> Running:
        return sinks.start(spark, _as_written(settings, trigger))

    return SinkRun(pipeline.name, judge(), write, settings.trigger)


def _as_written(settings: RunSettings, trigger: Mapping[str, Any]) -> RunSettings:
    """From the first record of the topics in between, wherever judging begins and ends."""
    return replace(
        settings,
        starting="earliest",
        ending=None,
        after=None,
        before=None,
        from_group=False,
        trigger=trigger,
    )


class SinkRun(WatchedRun):
    def __init__(
        self,
        name: str,
        judging: Running,
        write: Callable[[Mapping[str, Any]], Running],
        trigger: Mapping[str, Any],
    ) -> None:
        super().__init__(name, f"run-{name}-sinks")
        self._judging = judging
        self._write = write
        self._writing: Running | None = None
        try:
            # Where judging comes to an end by itself, what it wrote is written after that.
            if not trigger.keys() & {"availableNow", "once"}:
                self._writing = write({} if "realTime" in trigger else trigger)
        except BaseException:
            judging.stop()
            raise
        self._watcher.start()

    @property
    def queries(self) -> Sequence[StreamingQuery]:
        return [*self._judging.queries, *(self._writing.queries if self._writing else ())]

    def progress(self) -> Progress:
        """That of judging, and beside it how far the sinks are."""
        judged = self._judging.progress()
        if self._writing is None:
            return judged
        written = self._writing.progress()
        sinks = {
            "rows": written.output_rows,
            "lag": written.lag,
            "dead_letters": written.dead_letters,
            "restarts": written.restarts,
        }
        return replace(judged, extra={**judged.extra, "sinks": sinks})

    def _keep_going(self) -> None:
        while not self._stopping.is_set() and not self._judging.wait(_LOOK_S):
            if self._writing is not None:
                self._writing.wait(0)
        if not self._stopping.is_set():
            self._write_off()
        for each in (self._judging, self._writing):
            if each is not None:
                each.stop()
                each.wait(0)

    def _write_off(self) -> None:
        """What judging has left in the topics, now that nothing is added to them."""
        if self._writing is not None:
            self._writing.stop()
        self._writing = self._write(_TO_THE_END)
        while not self._stopping.is_set() and not self._writing.wait(_LOOK_S):
            pass

    def _close(self) -> None:
        """After a failure one of the two still runs; that failure is what the run tells."""
        for each in (self._judging, self._writing):
            with suppress(PipelineError):
                if each is not None:
                    each.stop()
