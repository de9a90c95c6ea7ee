"""Kafka Connect in distributed mode: workers as processes, asked through their REST interface."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from http import HTTPStatus
from pathlib import Path
from typing import Any

from penstock.testing.port import free_port
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.conftest import START_SECONDS
from tests.patience import wait_until
from tools.apache_kafka import start_program

_WORKER = "org.apache.kafka.connect.cli.ConnectDistributed"
_SETTINGS = {
    "group.id": "connect",
    "exactly.once.source.support": "enabled",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "offset.storage.partitions": "2",
    "status.storage.partitions": "2",
    "offset.flush.interval.ms": "200",
    # Whoever was killed is missed soon, and its work is given away at once.
    "session.timeout.ms": "3000",
    "heartbeat.interval.ms": "300",
    "scheduled.rebalance.max.delay.ms": "0",
    "plugin.discovery": "service_load",
} | {
    f"{kind}.storage.{key}": value
    for kind in ("config", "offset", "status")
    for key, value in (("topic", f"connect-{kind}"), ("replication.factor", "1"))
}


class NotNowError(Exception):
    """Workers say no, or nothing, while they start and while they share their work out anew."""


class ConnectStand:
    def __init__(self, bootstrap_servers: str, folder: Path) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._folder = folder
        self._workers: dict[int, subprocess.Popen[bytes]] = {}

    def open(self, port: int | None = None) -> int:
        """Start a worker; its port is its name."""
        port = port or free_port()
        own = {
            "bootstrap.servers": self._bootstrap_servers,
            "listeners": f"http://127.0.0.1:{port}",
        }
        file = self._folder / f"worker-{port}.properties"
        lines = [f"{key}={value}\n" for key, value in (_SETTINGS | own).items()]
        file.write_text("".join(lines))
        output = self._folder / f"worker-{port}.out"
        self._workers[port] = start_program(_WORKER, [str(file)], output)
        return port

    def kill(self, port: int) -> None:
        self._workers[port].kill()
        self._workers.pop(port).communicate()

    def close(self) -> None:
        for port in list(self._workers):
            self.kill(port)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Through whichever worker was started first of those that run."""
        port = next(iter(self._workers))
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            assert error.code != HTTPStatus.BAD_REQUEST, error.read()
            raise NotNowError(f"{method} {path}: {error.code} {error.read()!r}") from error
        except OSError as error:
            raise NotNowError(f"{method} {path}: {error}") from error

    def insist(self, method: str, path: str, body: object = None) -> Any:
        """Ask until there is an answer."""
        answers: list[Any] = []

        def answered() -> bool:
            try:
                answers.append(self.ask(method, path, body))
            except NotNowError:
                return False
            return True

        wait_until(answered, patience_s=START_SECONDS)
        return answers[0]

    def create(self, name: str, **settings: str) -> None:
        config = {key.replace("_", "."): value for key, value in settings.items()}
        self.insist("PUT", f"/connectors/{name}/config", {"tasks.max": "1"} | config)

    def worker_of(self, name: str) -> int:
        """The worker that runs a connector's task."""
        status = self.insist("GET", f"/connectors/{name}/status")
        return int(status["tasks"][0]["worker_id"].rsplit(":", 1)[1])

    def wait_state(self, *names: str, state: str = "RUNNING") -> None:
        wait_until(lambda: all(self._is(name, state) for name in names), patience_s=START_SECONDS)

    def _is(self, name: str, state: str) -> bool:
        try:
            status = self.ask("GET", f"/connectors/{name}/status")
        except NotNowError:
            return False
        tasks = [task["state"] for task in status["tasks"]]
        expected = [] if state == "STOPPED" else [state]
        return bool(status["connector"]["state"] == state and tasks == expected)
