"""The copiers as processes: started, killed, stopped for a while, started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.testing.history import End, Event, Outcome, Produce
from penstock.testing.history_log import decode
from tools.exactly_once.copier import GAVE_UP, ROUND_S

ROOT = Path(__file__).resolve().parent.parent.parent
_AIM_S = 2.0
HUNG = "its client hung"


@dataclass
class Child:
    process: subprocess.Popen[bytes]
    history: Path
    wake_at: float | None = None
    """When a child that stands still goes on."""

    def last_note(self) -> Event | None:
        if not self.history.exists():
            return None
        with open(self.history, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            lines = file.read().splitlines(keepends=True)
        return decode(lines[-1]) if lines and lines[-1].endswith(b"\n") else None

    def wake(self) -> None:
        self.wake_at = None
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Fleet:
    """One process per slot. A slot is a transactional id; who is replaced while it stands still
    becomes a zombie, which finds out when it goes on."""

    def __init__(
        self,
        bootstrap: str,
        scratch: Path,
        size: int,
        work_s: float,
        fault: str | None,
        round_s: int = ROUND_S,
    ) -> None:
        self.slots = [f"copier-{index}" for index in range(size)]
        self.endings: Counter[str] = Counter()
        self._bootstrap = bootstrap
        self._scratch = scratch
        self._work_s = work_s
        self._round_s = round_s
        self._fault = fault
        self._started = 0
        self._running: dict[str, Child] = {}
        self._zombies: list[Child] = []

    @property
    def histories(self) -> list[Path]:
        return sorted(self._scratch.glob("copier-*.history"))

    def tend(self) -> None:
        """Start what is not running, wake what stood long enough."""
        for slot in self.slots:
            child = self._running.get(slot)
            if child is not None and child.process.poll() is None:
                continue
            if child is not None:
                self._note_ending(child)
            self._running[slot] = self._spawn(slot)
        for child in self._everybody():
            if child.wake_at is not None and child.wake_at <= time.monotonic():
                child.wake()

    def kill(self, slot: str, *, after_commit: bool = False) -> None:
        child = self._running.pop(slot)
        if after_commit:
            _stop_at(child, _has_committed)
        child.kill()

    def halt(self, slot: str, pause_s: float, *, replace: bool) -> None:
        child = self._running[slot]
        _stop_at(child, _is_inside_transaction)
        child.wake_at = time.monotonic() + pause_s
        if replace:
            self._zombies.append(self._running.pop(slot))

    @property
    def is_awake(self) -> bool:
        return all(child.wake_at is None for child in self._everybody())

    def end(self, timeout_s: float = 30.0) -> int:
        """How many did not end when asked to, zombies among them."""
        for child in self._everybody():
            child.wake()
            child.process.terminate()
        deadline = time.monotonic() + timeout_s
        stubborn = 0
        for child in self._everybody():
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                stubborn += 1
                child.process.send_signal(signal.SIGUSR1)
                time.sleep(0.1)
        for child in self._zombies:
            self._note_ending(child)
        self.kill_all()
        return stubborn

    def replace_all(self) -> None:
        """Their clients hang: others take their place."""
        for child in self._running.values():
            child.kill()
            self.endings[HUNG] += 1
        self._running.clear()
        self.tend()

    def kill_all(self) -> None:
        for child in self._everybody():
            child.kill()
        self._running.clear()
        self._zombies.clear()

    def _everybody(self) -> list[Child]:
        return [*self._running.values(), *self._zombies]

    def _note_ending(self, child: Child) -> None:
        code = child.process.poll()
        told = {GAVE_UP: "gave up", 0: "as asked", -signal.SIGALRM: HUNG}
        self.endings[told.get(code or 0, f"with code {code}")] += 1

    def _spawn(self, slot: str) -> Child:
        self._started += 1
        name = f"{slot}.{self._started}"
        history = self._scratch / f"{name}.history"
        command = [sys.executable, "-m", "tools.exactly_once.copier", "--slot", slot]
        command += ["--bootstrap", self._bootstrap, "--name", name, "--history", str(history)]
        command += ["--work-s", str(self._work_s), "--round-s", str(self._round_s)]
        command += ["--fault", self._fault] if self._fault else []
        with open(self._scratch / "copiers.out", "ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT
            )
        return Child(process, history)


def _is_inside_transaction(note: Event | None) -> bool:
    return isinstance(note, Produce)


def _has_committed(note: Event | None) -> bool:
    return isinstance(note, End) and note.outcome is Outcome.OK


def _stop_at(child: Child, moment: Callable[[Event | None], bool]) -> None:
    """Chosen by what it noted last; at any moment if that one does not come for a while."""
    deadline = time.monotonic() + _AIM_S
    while True:
        child.process.send_signal(signal.SIGSTOP)
        if moment(child.last_note()) or time.monotonic() > deadline:
            return
        child.process.send_signal(signal.SIGCONT)
        time.sleep(0.003)
