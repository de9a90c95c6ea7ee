"""A pipeline as the work of a whole process: session, signals, status, metrics, and the end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import PipelineError, RunError
from penstock.pipelines.run.failure import one_line
from penstock.pipelines.run.lock import RunLock
from penstock.pipelines.run.metric import RunMetrics
from penstock.pipelines.run.status import StatusWriter

if TYPE_CHECKING:
    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run.runner import Runnable, Running
    from penstock.pipelines.run_settings import RunSettings

_LOOK_S = 0.25

Watch = Callable[["Progress"], None]


def launch(pipeline: Runnable, settings: RunSettings, watch: Watch | None = None) -> Progress:
    """Run until it ends or a signal asks it to; `watch` is called with the progress meanwhile."""
    _refuse_second(pipeline, settings)
    status = StatusWriter(pipeline.name, settings)
    try:
        running = _start(pipeline, settings)
    except PipelineError:
        raise
    except Exception as error:
        raise RunError(f"{pipeline.name} did not start: {one_line(error)}") from error
    server = _serve(pipeline.name, settings, running)
    status.start(running.progress)
    failure: str | None = None
    try:
        with _signals() as asked:
            _attend(running, asked, watch)
    except PipelineError as error:
        failure = str(error)
        raise
    finally:
        status.end(failure)
        if server is not None:
            server.shutdown()
    return running.progress()


def _refuse_second(pipeline: Runnable, settings: RunSettings) -> None:
    """Before Spark takes its seconds to start; the run itself locks for good."""
    lock = RunLock(settings.home(pipeline.name), pipeline.name)
    lock.acquire()
    lock.release()


def _start(pipeline: Runnable, settings: RunSettings) -> Running:
    from penstock.pipelines.session import session

    options = {**getattr(pipeline, "options", {}), **settings.options}
    spark = session(name=pipeline.name, master=settings.master, options=options)
    # An error is reported in one line; Spark would print it again with its stack.
    spark.sparkContext.setLogLevel("OFF")
    return pipeline.start(spark, settings)


def _serve(name: str, settings: RunSettings, running: Running) -> Any:
    if settings.metrics_port is None:
        return None
    try:
        return RunMetrics(name, running.progress).serve(settings.metrics_port)
    except OSError as error:
        running.stop()
        raise RunError(
            f"metrics cannot be served on port {settings.metrics_port}: {error.strerror}"
        ) from error


def _attend(running: Running, asked: threading.Event, watch: Watch | None) -> None:
    while not asked.is_set():
        if running.wait(_LOOK_S):
            return
        if watch is not None:
            watch(running.progress())
    running.stop()
    running.wait(0)


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
