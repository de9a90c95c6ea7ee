"""Processes of the benchmark's own: told by words on stdin, answering in lines of JSON.

A child ends when its stdin ends, so none outlives the benchmark, however that came to its end.
Whatever it started (a JVM, Python workers) ends with it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from bench.load.child import LoadFailedError
from bench.pipelines.usage import tree

ROOT = Path(__file__).resolve().parent.parent.parent
# Spark and its libraries may print what they like beside it.
_MARK = "@answer "
_TAIL = 800

Spec = dict[str, Any]
Handler = Callable[[str, Spec], Spec]


def serve(work: Callable[[Spec], AbstractContextManager[Handler]]) -> None:
    """The main program of a child: prepare, say so, then answer one word after the other."""
    with work(json.loads(sys.argv[1])) as handle:
        _answer({"ready": True})
        for line in sys.stdin:
            word, _, rest = line.strip().partition(" ")
            _answer(handle(word, json.loads(rest) if rest else {}))


def _answer(answer: Spec) -> None:
    print(_MARK + json.dumps(answer), flush=True)


class Child:
    """A process with a log file, a timeout on every answer, and an end that leaves nothing."""

    def __init__(
        self,
        command: list[str],
        log_file: Path,
        name: str,
        *,
        is_command: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        # A command of ours knows nothing of words on stdin, and ends by a signal.
        self._is_command = is_command
        self.log_file = log_file
        self.started_at = time.time()
        with open(log_file, "ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT}/src"} | dict(environment or {}),
                start_new_session=True,
            )
        self._answers: queue.Queue[Spec | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait_ready(self, timeout_s: float = 240.0) -> None:
        self._next(timeout_s)

    def ask(self, word: str, spec: Spec | None = None, timeout_s: float = 60.0) -> Spec:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{word} {json.dumps(spec or {})}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise LoadFailedError(f"{self.name} has ended: {self.last_words()}") from None
        return self._next(timeout_s)

    def stop(self, timeout_s: float = 30.0) -> None:
        """Ask it to end; whatever is left of it and of its descendants afterwards is killed."""
        family = tree(self.pid)
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        if self._is_command and self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            family |= tree(self.pid)
        if self._process.poll() is not None:
            family.discard(self.pid)
        for pid in family:
            _kill(pid, family)
        self._process.wait()
        # Nobody holds its output open any more, so its reader comes to an end.
        self._reader.join(10)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _next(self, timeout_s: float) -> Spec:
        try:
            answer = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            raise LoadFailedError(
                f"{self.name} did not answer within {timeout_s:.0f} s: {self.last_words()}"
            ) from None
        if answer is None:
            raise LoadFailedError(f"{self.name} ended: {self.last_words()}")
        return answer

    def _read(self) -> None:
        assert self._process.stdout is not None
        with open(self.log_file, "a") as log, self._process.stdout:
            for line in self._process.stdout:
                if line.startswith(_MARK):
                    self._answers.put(json.loads(line[len(_MARK) :]))
                else:
                    log.write(line)
                    log.flush()
        self._answers.put(None)

    def last_words(self) -> str:
        time.sleep(0.3)
        return self.log_file.read_text(errors="replace").strip()[-_TAIL:] or "it said nothing"


def python_child(module: str, spec: Spec, folder: Path) -> Child:
    command = [sys.executable, "-m", f"bench.pipelines.process.{module}", json.dumps(spec)]
    return Child(command, folder / f"{module}.log", module)


def _kill(pid: int, family: set[int]) -> None:
    """Only what is still the same family: a pid may have been given away meanwhile."""
    try:
        if os.getpgid(pid) in family:
            os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
