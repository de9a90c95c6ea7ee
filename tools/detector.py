"""The fraud detector as a child process, run by its command line like any user would, and killed.

A run is a tree of processes: the Python driver, Spark's Java process, and Python workers below it.
Each can be killed alone. All of them are found as descendants of what was started here.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from penstock.pipelines.run.status import read_status
from tools.penstock_broker import penstock_command


class DetectorFailedError(RuntimeError):
    """The detector does not stay up; the message ends with what it said last."""


class Detector:
    def __init__(
        self, bootstrap_servers: str, directory: Path, options: Sequence[str] = ()
    ) -> None:
        self.directory = directory
        self.log_file = directory.with_name(directory.name + ".out")
        self.starts = 0
        run = ["pipeline", "run", "fraud", "-b", bootstrap_servers, "--dir", str(directory)]
        self._command = [*penstock_command(), *run, *options]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise DetectorFailedError("the detector was not started")
        return self._process.pid

    def stage(self) -> str:
        """How far its start is, as seen from outside."""
        status = read_status(self.directory / "fraud")
        if status is not None and (status["pid"], status["state"]) == (self.pid, "running"):
            return "the query runs, Spark starts its Python workers"
        if any(_is_java(pid) for pid in descendants(self.pid)):
            return "Spark starts in its Java process, which takes longer the first time"
        return "Python starts"

    def start(self) -> None:
        """Returns at once; the first verdicts come when Spark is up."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with open(self.log_file, "ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"PYSPARK_PYTHON": sys.executable},
            )
        self.starts += 1

    def tend(self) -> bool:
        """Start it again if it ended by itself; whether that was so."""
        if self.running:
            return False
        self.start()
        return True

    def kill(self) -> None:
        """SIGKILL for the whole tree: the machine is gone."""
        for pid in [self.pid, *descendants(self.pid)]:
            _kill(pid)
        self._wait(10)

    def kill_driver(self) -> None:
        """SIGKILL for the driver alone; Java notices and ends, and the workers with it."""
        below = descendants(self.pid)
        _kill(self.pid)
        self._wait(10)
        wait_gone(below, 30)

    def kill_java(self) -> None:
        """SIGKILL for Spark's Java process; the driver may take some time to see it."""
        for pid in descendants(self.pid):
            if _is_java(pid):
                _kill(pid)

    def kill_workers(self) -> bool:
        """SIGKILL for the Python workers; Spark starts others and repeats their tasks."""
        found = [pid for pid in descendants(self.pid) if "pyspark" in _command_line(pid)]
        workers = [pid for pid in found if not _is_java(pid)]
        for pid in workers:
            _kill(pid)
        return bool(workers)

    def stop(self, timeout_s: float = 60.0) -> int | None:
        """As Ctrl-C or SIGTERM: it ends at a batch boundary. The exit code; None if it had to be
        killed."""
        if self._process is None:
            return 0
        below = descendants(self.pid)
        if self.running:
            self._process.send_signal(signal.SIGTERM)
        code = self._wait(timeout_s)
        if code is None:
            self.kill()
        elif not wait_gone(below, 10):
            for pid in below:
                _kill(pid)
        self._process = None
        return code

    def last_words(self, characters: int = 2000) -> str:
        if not self.log_file.exists():
            return ""
        return self.log_file.read_text(errors="replace")[-characters:]

    def _wait(self, timeout_s: float) -> int | None:
        assert self._process is not None
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None


def descendants(pid: int) -> list[int]:
    """Children and theirs, as far as they live."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True)
    children: dict[int, list[int]] = {}
    for line in listed.stdout.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found, queue = [], [pid]
    while queue:
        for child in children.get(queue.pop(), ()):
            found.append(child)
            queue.append(child)
    return found


def wait_gone(pids: Sequence[int], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while any(_alive(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _alive(pid: int) -> bool:
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(shown.stdout.strip()) and not shown.stdout.strip().startswith("Z")


def _command_line(pid: int) -> str:
    command = ["ps", "-o", "args=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True).stdout.replace(" ", "\0")


def _is_java(pid: int) -> bool:
    return "java" in _command_line(pid).split("\0")[0]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
