"""A node of ours as a page of docs/ has it: `penstock start --config server.properties`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.mixed.mixed_kit import START_S, STOP_S
from tests.patience import wait_until
from tools.apache_kafka import answers_metadata


class OurNode:
    """In its folder, where its `server.properties` is."""

    def __init__(self, home: Path, port: int) -> None:
        self.home = home
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        with open(self.home / "penstock.out", "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "penstock", "start", "--config", "server.properties"],
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_ready(self) -> None:
        wait_until(self._is_up, self._story, patience_s=START_S)

    def _is_up(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._story()
        return answers_metadata(self.port)

    def _story(self) -> str:
        return (self.home / "penstock.out").read_text()[-3000:]

    def stop(self) -> None:
        process, self._process = self._process, None
        assert process is not None
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_S) == 0, self._story()

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
