"""How a load process is told what to do and how it answers: JSON in, one line of JSON out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent

Spec = dict[str, Any]


class LoadFailedError(RuntimeError):
    """A load process ended badly; the message carries its last words."""


def serve(work: Callable[[Spec], Spec]) -> None:
    """The whole main program of a load process."""
    print(json.dumps(work(json.loads(sys.argv[1]))), flush=True)


def say_ready() -> None:
    """Tell the parent that the load stands, for loads that are watched while they last."""
    print("ready", flush=True)


class Load:
    """A load in a process of its own, so that it does not share the broker's core."""

    def __init__(self, module: str, spec: Spec, timeout_s: float) -> None:
        self._module = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"bench.load.{module}", json.dumps(spec)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        self._timeout_s = timeout_s
        self._watchdog = threading.Timer(timeout_s, self._process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()

    def wait_ready(self) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "ready":
            self.result()
            raise LoadFailedError(f"{self._module} ended without being ready")

    def result(self) -> Spec:
        out, err = self._process.communicate()
        self._watchdog.cancel()
        if self._process.returncode == -signal.SIGKILL:
            raise LoadFailedError(f"{self._module} took longer than {self._timeout_s:.0f} s")
        if self._process.returncode:
            raise LoadFailedError(f"{self._module}: {err.strip()[-600:]}")
        answer: Spec = json.loads(out.splitlines()[-1])
        return answer


def run_load(module: str, spec: Spec, timeout_s: float) -> Spec:
    return Load(module, spec, timeout_s).result()
