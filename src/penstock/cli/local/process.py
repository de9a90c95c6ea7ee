"""Processes by number, told apart from others that got the same number later. Starts none."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_POLL_S = 0.02
_STARTED_FIELD = 19
"""Of /proc/PID/stat, counted from behind the name, which may hold spaces and brackets."""


@dataclass(frozen=True, slots=True)
class ProcessId:
    pid: int
    started: str
    """As the system tells it: the same for as long as the process lives."""

    @staticmethod
    def of(pid: int) -> ProcessId:
        return ProcessId(pid, started_at(pid) or "")

    def is_alive(self) -> bool:
        return bool(self.started) and started_at(self.pid) == self.started

    def send(self, number: signal.Signals) -> bool:
        """Whether it was there to be sent a signal."""
        if not self.is_alive():
            return False
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def wait_gone(self, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while self.is_alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
        return True


def started_at(pid: int) -> str | None:
    """None for a process that has ended, whether or not its parent has taken notice."""
    if not Path("/proc/self").is_dir():
        return _started_by_ps(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[_STARTED_FIELD]


def _started_by_ps(pid: int) -> str | None:
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    state, _, started = done.stdout.strip().partition(" ")
    return started.strip() if state and not state.startswith("Z") else None
