"""Pipelines as the work of a whole process: one session, signals, status, metrics, and the end.

Each has its own lock, status and end. One that fails says why, and the others go on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.client.prometheus import ServeError
from penstock.pipelines.error import DeclarationError, PipelineError, RunError
from penstock.pipelines.run.failure import one_line
from penstock.pipelines.run.lock import RunLock
from penstock.pipelines.run.metric import RunMetrics
from penstock.pipelines.run.progress import Progress
from penstock.pipelines.run.status import StatusWriter, clear_stop, is_stop_asked
from penstock.pipelines.run.user_code import send_user_code

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.pipelines.run.runner import Runnable, Running
    from penstock.pipelines.run_settings import RunSettings

_LOOK_S = 0.25
_QUIET = "OFF"
_LOG_LEVEL = "spark.log.level"


class Watch:
    """Told of what happens, by name; this one does nothing with it."""

    def started(self, name: str, spark_ui: str | None) -> None: ...

    def progressed(self, name: str, now: Progress) -> None: ...

    def ended(self, name: str, now: Progress) -> None: ...

    def failed(self, name: str, error: PipelineError) -> None: ...


@dataclass(slots=True)
class Launched:
    """One pipeline of the process."""

    pipeline: Runnable
    settings: RunSettings
    status: StatusWriter
    running: Running | None = None
    error: PipelineError | None = None
    ended: bool = False

    @property
    def name(self) -> str:
        return self.pipeline.name

    def progress(self) -> Progress:
        return Progress() if self.running is None else self.running.progress()

    def start(self, spark: SparkSession) -> None:
        try:
            self.running = self.pipeline.start(spark, self.settings)
        except Exception as error:
            self.fail(_as_pipeline_error(self.name, "did not start", error))
            return
        self.status.start(self.running.progress)

    def look(self) -> None:
        """Whether it has ended meanwhile, well or not."""
        if self.running is None or self.ended:
            return
        try:
            if is_stop_asked(self.settings.home(self.name)):
                self.running.stop()
            self.ended = self.running.wait(0)
        except Exception as error:
            self.fail(_as_pipeline_error(self.name, "has stopped", error))
        else:
            if self.ended:
                self.status.end()

    def stop(self) -> None:
        if self.running is not None and not self.ended:
            try:
                self.running.stop()
            except Exception as error:
                self.fail(_as_pipeline_error(self.name, "has stopped", error))

    def fail(self, error: PipelineError) -> None:
        self.error, self.ended = error, True
        self.status.end(str(error))


def launch(
    pipelines: Sequence[Runnable], settings: RunSettings, watch: Watch | None = None
) -> list[Launched]:
    """Run until all have ended or a signal asks them to."""
    watch = watch or Watch()
    names = [each.name for each in pipelines]
    for each in pipelines:
        _refuse_second(each, settings)
    all_launched = [
        Launched(each, settings, StatusWriter(each.name, settings, names)) for each in pipelines
    ]
    spark = _session(pipelines, settings)
    server = _serve(all_launched, settings)
    try:
        with _signals() as asked:
            _start(all_launched, spark, watch)
            _attend(all_launched, asked, watch)
    finally:
        if server is not None:
            server.shutdown()
    return all_launched


def _start(all_launched: Sequence[Launched], spark: SparkSession, watch: Watch) -> None:
    address = spark.sparkContext.uiWebUrl
    for each in all_launched:
        each.status.say(spark_ui=address)
        # Settings of one must not reach the others: each has its own part of the session.
        each.start(spark if len(all_launched) == 1 else spark.newSession())
        if each.error is None:
            watch.started(each.name, address)
        else:
            watch.failed(each.name, each.error)


def _attend(all_launched: Sequence[Launched], asked: threading.Event, watch: Watch) -> None:
    while open_ones := [each for each in all_launched if not each.ended]:
        if asked.is_set():
            with ThreadPoolExecutor(len(open_ones)) as together:
                list(together.map(Launched.stop, open_ones))
        for each in open_ones:
            each.look()
            _tell(each, watch)
        asked.wait(_LOOK_S)


def _tell(launched: Launched, watch: Watch) -> None:
    if launched.error is not None:
        watch.failed(launched.name, launched.error)
    elif launched.ended:
        watch.ended(launched.name, launched.progress())
    else:
        watch.progressed(launched.name, launched.progress())


def _as_pipeline_error(name: str, what: str, error: Exception) -> PipelineError:
    if isinstance(error, PipelineError):
        return error
    made = RunError(f"{name} {what}: {one_line(error)}")
    made.__cause__ = error
    return made


def _refuse_second(pipeline: Runnable, settings: RunSettings) -> None:
    """Before Spark takes its seconds to start; the run itself locks for good."""
    lock = RunLock(settings.home(pipeline.name), pipeline.name)
    lock.acquire()
    clear_stop(settings.home(pipeline.name))
    lock.release()


def _session(pipelines: Sequence[Runnable], settings: RunSettings) -> SparkSession:
    from penstock.pipelines.session import session

    options = {**_wanted(pipelines, settings.options), **settings.options}
    try:
        spark = session(
            name=" ".join(each.name for each in pipelines),
            master=settings.master,
            options=options,
            lake=any(getattr(each, "lake", False) for each in pipelines),
        )
        if settings.spark_log or _LOG_LEVEL not in options:
            # An error is reported in one line; Spark would print it again with its stack.
            spark.sparkContext.setLogLevel(settings.spark_log or _QUIET)
        send_user_code(spark.sparkContext, settings.py_files)
    except PipelineError:
        raise
    except Exception as error:
        raise RunError(f"Spark did not start: {one_line(error)}") from error
    return spark


def _wanted(pipelines: Sequence[Runnable], given: Mapping[str, str]) -> dict[str, str]:
    """Settings that the pipelines ask for and that hold for the whole session."""
    wanted: dict[str, tuple[str, str]] = {}
    for each in pipelines:
        for key, value in getattr(each, "options", {}).items():
            owner, before = wanted.setdefault(key, (each.name, value))
            if before == value or key in given:
                continue
            # Those of SQL are set for each query as it starts.
            if not key.startswith("spark.sql."):
                raise DeclarationError(
                    f"{owner} asks for {key}={before} and {each.name} for {key}={value}:"
                    " run them apart, or say which with --set"
                )
    return {key: value for key, (_, value) in wanted.items()}


def _serve(all_launched: Sequence[Launched], settings: RunSettings) -> Any:
    if settings.metrics_port is None:
        return None
    metrics = RunMetrics({each.name: each.progress for each in all_launched})
    try:
        return metrics.serve(settings.metrics_port, settings.metrics_host)
    except ServeError as error:
        raise RunError(str(error)) from error


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """SIGTERM and SIGINT ask for a graceful end; a second one is not waited for."""
    asked = threading.Event()

    def ask(number: int, _: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {each: signal.signal(each, ask) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
