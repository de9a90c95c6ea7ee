"""docs/pipelines.md is true: every command in it is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import QUICK_START
from tests.pipelines.docs_kit import commands, python_block


class Shell:
    def __init__(self, folder: Path, servers: str) -> None:
        self.folder = folder
        self.servers = servers
        scripts = str(Path(sys.executable).parent)
        self.environment = {
            **os.environ,
            "PATH": scripts + os.pathsep + os.environ["PATH"],
            "PENSTOCK_BOOTSTRAP_SERVERS": servers,
            # May record the classes of Spark, for all that start it after this.
            "SPARK_SUBMIT_OPTS": QUICK_START,
        }

    def start(self, command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", f"exec {command}" if "|" not in command else command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str) -> str:
        process = self.start(command)
        out, err = process.communicate(timeout=900)
        assert process.returncode == 0, (command, out, err)
        return out.replace(self.servers, "127.0.0.1:9092")


@pytest.mark.timeout(1800)
def test_every_command(penstock: Any, tmp_path: Path) -> None:
    shell = Shell(tmp_path, penstock.bootstrap_servers)
    (tmp_path / "orders.py").write_text(python_block("def big_orders"))
    running: subprocess.Popen[str] | None = None
    for command, printed in commands():
        if command == "penstock start":
            continue  # the fixture's broker stands for it
        if "pipeline run" in command and "--once" not in command:
            running = shell.start(command.replace("9404", "0"))
            wait_running(tmp_path / "penstock-pipelines" / "big-orders" / "status.json", running)
            continue
        out = shell.run(command)
        if printed:
            assert out == printed
        if command.startswith("penstock dlq list"):
            assert "NotJson" in out
        if command.startswith("penstock pipeline status"):
            assert "big-orders  stopped" in out
    assert running is not None
    running.communicate(timeout=60)
    assert running.returncode == 0


def wait_running(status: Path, process: subprocess.Popen[str]) -> None:
    while json.loads(status.read_text())["pid"] != process.pid:
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
