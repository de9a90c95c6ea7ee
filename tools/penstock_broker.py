"""A Penstock node as a child process, driven through its command line like any user would.

It has the shape of `tools.apache_kafka.ApacheKafka`, so that benchmarks and crash tests can treat
both alike. Nothing here reaches into the node.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.testing.port import free_port
from tools import wire


class PenstockFailedError(RuntimeError):
    """The node did not start; the message ends with what it logged last."""


def penstock_command() -> list[str]:
    """The installed command, beside the interpreter that runs this."""
    return [str(Path(sys.executable).with_name("penstock"))]


def _environment() -> dict[str, str]:
    """As for a user, whose installed package has its bytecode kept: start-up counts."""
    unwanted = "PYTHONDONTWRITEBYTECODE"
    return {key: value for key, value in os.environ.items() if key != unwanted}


class Penstock:
    """With `config`, a file in the form of Kafka's server.properties, nothing else is said."""

    def __init__(
        self,
        data_dir: Path,
        settings: Mapping[str, str] | None = None,
        *,
        port: int | None = None,
        start_timeout: float = 60.0,
        command: Sequence[str] | None = None,
        config: Path | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.port = port or free_port()
        self.log_file = data_dir.with_name(data_dir.name + ".out")
        self._settings = dict(settings or {})
        self._config = config
        self._start_timeout = start_timeout
        self._command = list(command or penstock_command())
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._running().pid

    def __enter__(self) -> Penstock:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def spawn(self) -> None:
        """Start the process without waiting for it to answer."""
        self.data_dir.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log_file, "ab") as log:
            self._process = subprocess.Popen(
                [*self._command, "start", *self._options()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=_environment(),
            )

    def _options(self) -> list[str]:
        if self._config is not None:
            return ["--config", str(self._config)]
        where = ["--listen", self.bootstrap_servers, "--data-dir", str(self.data_dir)]
        return where + [f"--set={key}={value}" for key, value in self._settings.items()]

    def start(self) -> None:
        self.spawn()
        try:
            self.wait_ready()
        except BaseException:
            self.kill()
            raise

    def wait_ready(self) -> None:
        deadline = time.monotonic() + self._start_timeout
        while not wire.answers(self.port):
            code = self._running().poll()
            if code is not None or time.monotonic() > deadline:
                why = "did not answer in time" if code is None else f"ended with code {code}"
                tail = self.log_file.read_text(errors="replace")[-2000:]
                raise PenstockFailedError(f"Penstock {why}\n{tail}")
            time.sleep(0.002)

    def terminate(self) -> None:
        """Ask the node to stop without waiting for it."""
        self._running().send_signal(signal.SIGTERM)

    def stop(self, timeout: float = 60.0) -> None:
        """Shut down cleanly; a node that takes too long is killed."""
        if self._process is None:
            return
        self.terminate()
        try:
            self._process.wait(timeout)
            self._process = None
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise PenstockFailedError("the broker is not running")
        return self._process
