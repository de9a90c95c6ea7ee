"""Children of the demo: each in a session of its own, and ended by its id."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.demonstration.telling import ClaimError


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Ctrl-C takes effect at the end: a child just started is in somebody's hands by then."""
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


class Broker:
    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.address = "127.0.0.1:0"
        self.log = data_dir.with_name("broker.log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Seconds from nothing to ready; the address stays the same from the first start on."""
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "penstock", "start", "--listen", self.address]
        command += ["--data-dir", str(self.data_dir), "--ready-fd", str(writing)]
        # Kafka lets a new group wait three seconds for more members; a demo has them at hand.
        command += ["--set", "group.initial.rebalance.delay.ms=0"]
        began = time.perf_counter()
        with open(self.log, "ab") as log, interrupts_wait():
            self._process = subprocess.Popen(
                command,
                pass_fds=[writing],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        os.close(writing)
        with open(reading) as pipe:
            line = pipe.readline()
        if not line:
            raise ClaimError(f"The broker did not start:\n{self.log.read_text()[-2000:]}")
        self.address = json.loads(line)["listen"]
        return time.perf_counter() - began

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def memory_bytes(self) -> int:
        command = ["ps", "-o", "rss=", "-p", str(self.pid)]
        return int(subprocess.run(command, capture_output=True, check=True).stdout) * 1024


class Command:
    """A `penstock` command that runs beside the demo."""

    def __init__(self, arguments: list[str], log: Path) -> None:
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "penstock", *arguments],
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def stop(self, timeout_s: float = 30.0) -> None:
        """As Ctrl-C would."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def run_command(*arguments: str) -> str:
    """A `penstock` command that ends by itself; what it printed."""
    command = [sys.executable, "-m", "penstock", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise ClaimError(f"penstock {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
