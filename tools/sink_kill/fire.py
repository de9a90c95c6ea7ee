"""Killing the job's driver and its Python workers at random moments, until it has done its work."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Say = Callable[[str], None]
WORKER = "pyspark.daemon"
_POLL_S = 0.02
_QUIET_S_MAX = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    driver_kills: int
    worker_kills: int
    """In all, spread over the drivers."""
    seconds_max: float = 3_600.0


@dataclass(slots=True)
class Toll:
    driver_kills: int = 0
    worker_kills: int = 0
    starts: int = 0
    failures: int = 0
    """Ends of the job that were neither its own nor a kill."""
    seconds: float = 0.0


@dataclass(slots=True)
class Fire:
    bootstrap: str
    folder: Path
    jobs: Sequence[str]
    plan: Plan
    written: Callable[[Sequence[str]], int]
    """How much stands in these outputs."""
    say: Say
    toll: Toll = field(default_factory=Toll)

    def run(self) -> Toll:
        chance = random.Random(self.plan.seed)
        began = time.monotonic()
        while True:
            process = self._spawn()
            try:
                done = self._burn(process, chance)
            finally:
                _end_all(process)
            self.toll.seconds = time.monotonic() - began
            if done:
                return self.toll
            if self.toll.seconds > self.plan.seconds_max:
                raise TimeoutError(f"not done after {self.toll}\n{self._last_words()}")

    def _spawn(self) -> subprocess.Popen[bytes]:
        self.toll.starts += 1
        self.say(f"start {self.toll.starts} of the driver")
        command = [sys.executable, "-m", "tools.sink_kill.job", self.bootstrap, str(self.folder)]
        with open(self.folder / "job.out", "ab") as log:
            return subprocess.Popen(
                [*command, *self.jobs],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _burn(self, process: subprocess.Popen[bytes], chance: random.Random) -> bool:
        """Whether the job ended by itself, all work done."""
        # A driver that gets nowhere shows nothing: the first query must have written a batch.
        self._wait_written(process, self.jobs[:1])
        if process.poll() is not None:
            return self._ended(process)
        for _ in range(self._share_of_workers()):
            if self._wait(process, chance.uniform(0, _QUIET_S_MAX)):
                return self._ended(process)
            self._kill_worker(process, chance)
        if self.toll.driver_kills < self.plan.driver_kills:
            # The moment when something has just been written is as random, and more telling.
            if chance.random() < 0.5 and self._wait(process, chance.uniform(0, _QUIET_S_MAX)):
                return self._ended(process)
            self._wait_written(process, self.jobs)
            self._kill_driver(process, chance)
            return False
        process.wait(self.plan.seconds_max)
        return self._ended(process)

    def _ended(self, process: subprocess.Popen[bytes]) -> bool:
        self.say(f"the job ended by itself, with exit code {process.returncode}")
        self.toll.failures += process.returncode != 0
        if self.toll.failures > 10:
            raise RuntimeError(f"the job fails by itself\n{self._last_words()}")
        return process.returncode == 0

    def _share_of_workers(self) -> int:
        left = self.plan.worker_kills - self.toll.worker_kills
        drivers = self.plan.driver_kills - self.toll.driver_kills + 1
        return -(-left // drivers)

    def _wait(self, process: subprocess.Popen[bytes], seconds: float) -> bool:
        """Whether it ended meanwhile."""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _wait_written(self, process: subprocess.Popen[bytes], jobs: Sequence[str]) -> None:
        before = self.written(jobs)
        while process.poll() is None and self.written(jobs) == before:
            time.sleep(_POLL_S)

    def _kill_worker(self, process: subprocess.Popen[bytes], chance: random.Random) -> None:
        workers = [pid for pid, command in descendants(process.pid) if WORKER in command]
        # The first of them is the one that forks the others; it may go as well.
        if workers and _kill(chance.choice(workers)):
            self.toll.worker_kills += 1
            self.say(f"a worker killed, {self.toll.worker_kills} of {self.plan.worker_kills}")

    def _kill_driver(self, process: subprocess.Popen[bytes], chance: random.Random) -> None:
        if process.poll() is not None:
            self.toll.failures += process.returncode != 0
            return
        self.toll.driver_kills += 1
        self.say(f"the driver killed, {self.toll.driver_kills} of {self.plan.driver_kills}")
        if chance.random() < 0.5:
            os.killpg(process.pid, signal.SIGKILL)
            return
        # Only the JVM: its Python workers live on until they notice, and may still commit.
        for pid, command in descendants(process.pid):
            if "java" in command.split(" ", 1)[0]:
                _kill(pid)
        if not self._wait(process, 5.0):
            _kill(process.pid)

    def _last_words(self) -> str:
        return (self.folder / "job.out").read_text(errors="replace")[-4000:]


def descendants(root: int) -> list[tuple[int, str]]:
    """Process and command line of all below it."""
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in listing.splitlines()]
    below = {root}
    found: list[tuple[int, str]] = []
    # Parents are older, but numbers wrap: go round until nothing is added.
    while True:
        new = [row for row in rows if len(row) == 3 and int(row[1]) in below]
        new = [row for row in new if int(row[0]) not in below]
        if not new:
            return found
        found += [(int(row[0]), row[2]) for row in new]
        below |= {int(row[0]) for row in new}


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """Whatever is left of the job; its session holds nothing else."""
    for pid, _ in descendants(process.pid):
        _kill(pid)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
