"""One Java process for all Java consumers of a test run: starting one for each takes too long."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

from tools import apache_kafka

SOURCE = Path(__file__).parents[1] / "java" / "ConsumerHost.java"


class JavaHost:
    """Starts when its port is first asked for."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self._starting = threading.Lock()

    @property
    def port(self) -> int:
        with self._starting:
            if self._process is None:
                self._process = apache_kafka.start_source(SOURCE)
                assert self._process.stdout is not None
                self._port = int(self._process.stdout.readline())
            return self._port

    def close(self) -> None:
        if self._process is None:
            return
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
