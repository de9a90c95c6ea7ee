"""status.json: what a run says of itself to `penstock pipeline status`, every second.

Beside it the file `stop`, by which one of several pipelines of a process is asked to end.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from penstock.pipelines.run.lock import lock_holder
from penstock.pipelines.run.progress import Progress
from penstock.pipelines.run_settings import RunSettings

_EVERY_S = 1.0
FILE = "status.json"
_STOP = "stop"


class StatusWriter:
    def __init__(self, pipeline: str, settings: RunSettings, together: Sequence[str] = ()) -> None:
        self._path = settings.home(pipeline) / FILE
        self._said: dict[str, Any] = {
            "pipeline": pipeline,
            "state": "starting",
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "bootstrap_servers": settings.bootstrap_servers,
            "started": round(time.time(), 3),
            "together": list(together),
        }
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._progress: Callable[[], Progress] = Progress

    def say(self, **more: Any) -> None:
        self._said |= more

    def start(self, progress: Callable[[], Progress]) -> None:
        self._progress = progress
        self._said["state"] = "running"
        self._thread = threading.Thread(target=self._run, name="status", daemon=True)
        self._thread.start()

    def end(self, error: str | None = None) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._said["state"] = "stopped" if error is None else "failed"
        if error is not None:
            self._said["error"] = error
        self.write()

    def write(self) -> None:
        document = {
            **self._said,
            "updated": round(time.time(), 3),
            "progress": self._progress().document(),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(document, indent=1))
        fresh.replace(self._path)

    def _run(self) -> None:
        while True:
            self.write()
            if self._ended.wait(_EVERY_S):
                return


def read_status(home: Path) -> dict[str, Any] | None:
    """The last word of a run, with `state` as it is now: a process that was killed says nothing."""
    try:
        said: dict[str, Any] = json.loads((home / FILE).read_text())
    except FileNotFoundError:
        return None
    if said["state"] in ("starting", "running") and lock_holder(home) is None:
        said["state"] = "killed"
    return said


def ask_stop(home: Path) -> None:
    """Of one pipeline in a process of several, which a signal would stop altogether."""
    (home / _STOP).touch()


def is_stop_asked(home: Path) -> bool:
    return (home / _STOP).exists()


def clear_stop(home: Path) -> None:
    (home / _STOP).unlink(missing_ok=True)
