"""A Spark cluster of its own processes: a master, workers, and the executors that they start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from tools.detector import descendants, wait_gone

SPARK_HOME = Path(pyspark.__file__).parent
START_S = 600.0
RUN_S = 1800.0
# They do little or live for a moment: they should start soon and take no core for themselves.
LIGHT_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
BRIEF_EXECUTORS = ("--set", f"spark.executor.extraJavaOptions={LIGHT_JVM}")
ADDRESS = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = re.compile(r"Successfully registered with master")
DEPLOY = "org.apache.spark.deploy"
ANYWHERE = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
EXECUTOR = "CoarseGrainedExecutorBackend"


class Daemon:
    """One of Spark's own daemons, and what it has said so far."""

    def __init__(self, folder: Path, name: str, *arguments: str) -> None:
        self._said = folder / f"{name}.log"
        command = [str(SPARK_HOME / "bin" / "spark-class"), *arguments]
        environment = os.environ | {
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_JAVA_OPTS": LIGHT_JVM,
            "SPARK_DAEMON_MEMORY": "256m",
        }
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=said, stderr=said
            )

    def wait_said(self, pattern: re.Pattern[str]) -> re.Match[str]:
        deadline = time.monotonic() + START_S
        while (found := pattern.search(self._said.read_text(errors="replace"))) is None:
            assert self._process.poll() is None, self._said.read_text(errors="replace")
            assert time.monotonic() < deadline, self._said.read_text(errors="replace")
            time.sleep(0.1)
        return found

    def executors(self) -> list[int]:
        return [each for each in descendants(self._process.pid) if EXECUTOR in _command(each)]

    def kill(self) -> None:
        """With all that it has started, as when its machine is gone."""
        for each in (self._process.pid, *descendants(self._process.pid)):
            _kill(each)
        self._process.wait()

    def stop(self) -> None:
        if self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class SparkCluster:
    """A master and two workers with a core each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._master = Daemon(folder, "master", f"{DEPLOY}.master.Master", *ANYWHERE)
        self.workers: list[Daemon] = []
        try:
            self.address = self._master.wait_said(ADDRESS)[1]
            self.add_worker()
            self.add_worker()
            for each in self.workers:
                each.wait_said(REGISTERED)
        except BaseException:
            self.stop()
            raise

    def add_worker(self) -> Daemon:
        name = f"worker-{len(self.workers)}"
        size = ("--cores", "1", "--memory", "1g", "--work-dir", str(self._folder / name))
        worker = f"{DEPLOY}.worker.Worker"
        self.workers.append(Daemon(self._folder, name, worker, *ANYWHERE, *size, self.address))
        return self.workers[-1]

    def executors(self) -> list[int]:
        return [each for worker in self.workers for each in worker.executors()]

    def kill_executor(self) -> None:
        _kill(self.executors()[0])

    def stop(self) -> None:
        for daemon in (*self.workers, self._master):
            daemon.stop()


class Driver:
    """`penstock` in a process of its own, in a folder."""

    def __init__(self, servers: str, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "penstock", "-b", servers, *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, with_signal: int | None = None) -> tuple[int, str]:
        if with_signal is not None:
            self.process.send_signal(with_signal)
        said, _ = self.process.communicate(timeout=RUN_S)
        return self.process.returncode, said

    def kill(self) -> None:
        """And wait for its JVM, which would go on for a moment."""
        children = descendants(self.process.pid)
        self.process.kill()
        self.process.communicate()
        assert wait_gone(children, 120)

    def wait_for(self, check: Callable[[], Any]) -> None:
        deadline = time.monotonic() + RUN_S
        while not check():
            assert self.process.poll() is None, self.process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.2)


@contextmanager
def driver(*arguments: Any) -> Iterator[Driver]:
    started = Driver(*arguments)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.kill()


def _command(pid: int) -> str:
    # Whole, however narrow the terminal is said to be.
    command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True).stdout


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
