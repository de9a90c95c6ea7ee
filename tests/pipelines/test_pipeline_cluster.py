"""The same pipelines on a Spark cluster of its own processes: a master, a worker, executors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

from tests.pipelines.test_pipeline_cli import PIPELINE, keys, order

SPARK_HOME = Path(pyspark.__file__).parent
START_S = 120.0
RUN_S = 600.0
# The daemons do little: they should start soon and take no core for themselves.
LIGHT_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ADDRESS = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = re.compile(r"Successfully registered with master")

pytestmark = [pytest.mark.java, pytest.mark.timeout(1800)]


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

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a master that has one worker, with two cores."""
    folder = tmp_path_factory.mktemp("spark-cluster")
    deploy = "org.apache.spark.deploy"
    anywhere = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    master = Daemon(folder, "master", f"{deploy}.master.Master", *anywhere)
    daemons = [master]
    try:
        address = master.wait_said(ADDRESS)[1]
        size = ("--cores", "2", "--memory", "1g", "--work-dir", str(folder / "work"))
        daemons.append(
            Daemon(folder, "worker", f"{deploy}.worker.Worker", *anywhere, *size, address)
        )
        daemons[1].wait_said(REGISTERED)
        yield address
    finally:
        for daemon in reversed(daemons):
            daemon.stop()


def run(servers: str, folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "penstock", "-b", servers, *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_pipeline_of_dataframes(penstock: Any, cluster: str, tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(PIPELINE)
    penstock.create_topic("orders", partitions=2)
    penstock.produce("orders", [order(each) for each in range(20)])
    where = ("run", "orders.py:big_orders", "--once", "--master", cluster)
    code, said = run(penstock.bootstrap_servers, tmp_path, "pipeline", *where)
    assert code == 0, said
    assert keys(penstock) == sorted(f"o{each}".encode() for each in range(20))


def test_the_fraud_detector(penstock: Any, cluster: str, tmp_path: Path) -> None:
    servers = penstock.bootstrap_servers
    sent = ("-n", "2000", "-r", "5000", "--seed", "3", "-p", "2")
    assert run(servers, tmp_path, "fraud", "generate", *sent)[0] == 0
    code, said = run(servers, tmp_path, "pipeline", "run", "fraud", "--once", "--master", cluster)
    assert code == 0, said
    code, said = run(servers, tmp_path, "fraud", "check")
    assert (code, "every payment has exactly one verdict" in said) == (0, True), said
