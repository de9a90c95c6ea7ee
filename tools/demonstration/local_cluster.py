"""`penstock cluster start` as a child of the demo, and the commands that act on it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tools.demonstration.process import Command, run_command
from tools.demonstration.telling import ClaimError

_START_S = 90.0
_STOP_S = 30.0
_IN_SYNC = "all in sync after"


class LocalCluster:
    def __init__(self, home: Path) -> None:
        self._home = home
        self._log = home.with_name("cluster.log")
        self._began_s = 0.0
        self._command: Command | None = None

    def start(self) -> None:
        """Without waiting for it."""
        self._began_s = time.monotonic()
        arguments = ["cluster", "start", "--nodes", "3", "--listen-base", "0"]
        # As for the single broker: a demo has a group's members at hand.
        settings = ["--set", "group.initial.rebalance.delay.ms=0"]
        self._command = Command([*arguments, *settings, *self._where()], self._log)

    def wait_in_sync(self, times: int) -> float:
        """Until the cluster has said so this often; seconds since the last start."""
        deadline = time.monotonic() + _START_S
        while self._log.read_text().count(_IN_SYNC) < times:
            assert self._command is not None
            if self._command.process.poll() is not None or time.monotonic() > deadline:
                said = self._log.read_text()[-2000:]
                raise ClaimError(f"the three nodes are not in sync:\n{said}")
            time.sleep(0.02)
        return time.monotonic() - self._began_s

    @property
    def bootstrap_servers(self) -> str:
        return str(self._status()["bootstrap_servers"])

    def memory_bytes(self) -> list[int]:
        pids = ",".join(str(node["pid"]) for node in self._status()["nodes"])
        command = ["ps", "-o", "rss=", "-p", pids]
        said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        return [int(each) * 1024 for each in said.split()]

    def run(self, verb: str, node: int) -> None:
        """`penstock cluster kill|restart NODE`."""
        if verb == "restart":
            self._began_s = time.monotonic()
        run_command("cluster", verb, str(node), *self._where())

    def stop(self) -> None:
        """As Ctrl-C would; a second one ends the nodes at once, so that none is left behind."""
        command, self._command = self._command, None
        if command is None:
            return
        for _ in range(2):
            if command.process.poll() is None:
                command.process.send_signal(signal.SIGINT)
            try:
                command.process.wait(_STOP_S)
                return
            except subprocess.TimeoutExpired:
                continue
        command.stop()

    def _status(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(
            run_command("cluster", "status", "--json", *self._where())
        )
        return document

    def _where(self) -> list[str]:
        return ["--data-dir", str(self._home)]
