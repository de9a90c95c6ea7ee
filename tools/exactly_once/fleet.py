"""The copiers as processes: started, killed, stopped for a while, started again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Fleet:
    """One process per slot. A slot is a transactional id; who is replaced while it stands still
    becomes a zombie, which finds out when it goes on."""

    def __init__(self, bootstrap: str, scratch: Path, size: int, fault: str | None) -> None:
        self.slots = [f"copier-{index}" for index in range(size)]
        self.endings: Counter[str] = Counter()
        self._bootstrap = bootstrap
        self._scratch = scratch
        self._fault = fault
        self._started = 0
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._standing: list[tuple[float, subprocess.Popen[bytes]]] = []
        self._zombies: list[subprocess.Popen[bytes]] = []

    @property
    def histories(self) -> list[Path]:
        return sorted(self._scratch.glob("copier-*.history"))

    @property
    def log_file(self) -> Path:
        return self._scratch / "copiers.out"

    def tend(self) -> None:
        """Start what is not running, wake what stood long enough."""
        for slot in self.slots:
            process = self._running.get(slot)
            code = None if process is None else process.poll()
            if code is not None:
                self.endings["gave up" if code == 3 else f"ended with code {code}"] += 1
            if process is None or code is not None:
                self._running[slot] = self._spawn(slot)
        due = [process for when, process in self._standing if when <= time.monotonic()]
        self._standing = [(when, one) for when, one in self._standing if one not in due]
        for process in due:
            process.send_signal(signal.SIGCONT)

    def kill(self, slot: str) -> None:
        process = self._running.pop(slot)
        process.kill()
        process.wait()
        self._standing = [(when, one) for when, one in self._standing if one is not process]

    def halt(self, slot: str, pause_s: float, *, replace: bool) -> None:
        process = self._running[slot]
        process.send_signal(signal.SIGSTOP)
        self._standing.append((time.monotonic() + pause_s, process))
        if replace:
            self._zombies.append(self._running.pop(slot))

    def wake_all(self) -> None:
        self._standing = [(0.0, process) for _, process in self._standing]
        self.tend()

    def end(self, timeout_s: float = 15.0) -> int:
        """How many did not end when asked to, zombies among them."""
        everybody = [*self._running.values(), *self._zombies]
        for process in everybody:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        deadline = time.monotonic() + timeout_s
        stubborn = 0
        for process in everybody:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                stubborn += 1
        self.kill_all()
        return stubborn

    def kill_all(self) -> None:
        for process in [*self._running.values(), *self._zombies]:
            process.kill()
            process.wait()
        self._running.clear()
        self._zombies.clear()
        self._standing.clear()

    def _spawn(self, slot: str) -> subprocess.Popen[bytes]:
        self._started += 1
        name = f"{slot}.{self._started}"
        command = [sys.executable, "-m", "tools.exactly_once.copier", "--slot", slot]
        command += ["--bootstrap", self._bootstrap, "--name", name]
        command += ["--history", str(self._scratch / f"{name}.history")]
        command += ["--fault", self._fault] if self._fault else []
        with open(self.log_file, "ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT
            )
