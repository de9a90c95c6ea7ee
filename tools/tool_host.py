"""Kafka's command line tools without a JVM start for each: one process runs them in turn.

For tests, which ask many small questions. What is measured has a process of its own
(`tools.apache_kafka.run_tool`), and so has a tool that takes its host down with it.
"""

from __future__ import annotations

import atexit
import functools
import select
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, unquote_plus

from tools.apache_kafka import TOOL_CLASSES, run_tool, start_source

SOURCE = Path(__file__).parent / "java" / "ToolHost.java"
_STOP_S = 20.0


class ToolHost:
    """Starts with the first question; one thread asks at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._turn = threading.Lock()

    def run(
        self, name: str, args: Sequence[str], *, stdin: str | None = None, timeout: float = 90.0
    ) -> subprocess.CompletedProcess[str]:
        with self._turn:
            answer = self._ask([TOOL_CLASSES[name], stdin or "", *args], timeout)
        if answer is None:
            return run_tool(name, args, stdin=stdin, timeout=timeout)
        code, out, err = answer.rstrip("\n").split("\t")
        return subprocess.CompletedProcess(
            [name, *args], int(code), unquote_plus(out), unquote_plus(err)
        )

    def _ask(self, words: Sequence[str], timeout: float) -> str | None:
        """The answer's line, or None where the tool ended its host."""
        self._process = self._process or start_source(SOURCE)
        source, sink = self._process.stdin, self._process.stdout
        assert source is not None and sink is not None
        source.write("\t".join(quote(word, safe="") for word in words) + "\n")
        source.flush()
        # One line for each question: nothing can be left in the buffer of the pipe.
        if not select.select([sink], [], [], timeout)[0]:
            self._end(kill=True)
            raise subprocess.TimeoutExpired(list(words), timeout)
        line = sink.readline()
        if line:
            return line
        self._end()
        return None

    def close(self) -> None:
        with self._turn:
            self._end()

    def _end(self, *, kill: bool = False) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if kill:
            process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@functools.cache
def shared_tool_host() -> ToolHost:
    """That of this process, which ends with it."""
    host = ToolHost()
    atexit.register(host.close)
    return host
