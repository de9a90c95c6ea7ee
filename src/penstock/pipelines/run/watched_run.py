"""What every run has: a thread that keeps it going, and an end that others wait for.

What there is to keep going, and what is left to put in order, is each kind's own.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

from penstock.pipelines.error import PipelineError, RunError
from penstock.pipelines.run.failure import one_line


class WatchedRun(ABC):
    def __init__(self, name: str, thread: str) -> None:
        self._name = name
        self._failure: PipelineError | None = None
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name=thread, daemon=True)

    def stop(self) -> None:
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()

    def wait(self, timeout_s: float | None = None) -> bool:
        ended = self._ended.wait(timeout_s)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    @abstractmethod
    def _keep_going(self) -> None:
        """Until it is asked to stop or has come to its end; raises what the run fails with."""

    @abstractmethod
    def _close(self) -> None:
        """Put in order what is left, whatever it ended with."""

    def _watch(self) -> None:
        try:
            self._keep_going()
        except PipelineError as error:
            self._failure = error
        except Exception as error:
            self._failure = RunError(f"{self._name} has stopped: {one_line(error)}")
        finally:
            try:
                self._close()
            finally:
                self._ended.set()
