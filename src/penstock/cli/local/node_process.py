"""One node of a cluster on this machine, as the process that it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from penstock.cli.local.layout import LocalNode, NodeFiles
from penstock.cli.local.process import ProcessId

_TAIL_BYTES = 8192
_LINE_CHARACTERS_MAX = 300


class NodeProcess:
    """Started when made. Not in the terminal's group: Ctrl-C is for who runs the cluster."""

    def __init__(self, home: Path, node: LocalNode, settings: Sequence[str]) -> None:
        self.node = node
        self.files = NodeFiles(home, node.id)
        self.is_ready = False
        self.started_s = time.monotonic()
        self.files.ready.unlink(missing_ok=True)
        chosen = [word for each in settings for word in ("--set", each)]
        with open(self.files.log, "ab") as log:
            self._popen = subprocess.Popen(
                [
                    *(sys.executable, "-m", "penstock.cli.main", "start"),
                    *("--config", str(self.files.config), "--ready-file", str(self.files.ready)),
                    *chosen,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.process = ProcessId.of(self._popen.pid)

    @property
    def took_s(self) -> float:
        return time.monotonic() - self.started_s

    @property
    def is_running(self) -> bool:
        return self._popen.poll() is None

    def has_become_ready(self) -> bool:
        """True once: when it is seen for the first time."""
        if self.is_ready or not self.files.ready.exists():
            return False
        self.is_ready = True
        return True

    def end(self, number: signal.Signals) -> None:
        if self.is_running:
            os.kill(self._popen.pid, number)

    def ended(self) -> str:
        """How, for a person; empty for a clean stop that was asked for."""
        code = self._popen.returncode
        if code == 0:
            return ""
        if code < 0:
            return f"killed by {_signal_name(-code)}"
        return f"exit code {code}"

    def last_line(self) -> str:
        """Of its log."""
        try:
            with open(self.files.log, "rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
                lines = log.read().decode(errors="replace").split("\n")
        except OSError:
            return ""
        return next((each for each in reversed(lines) if each.strip()), "")[:_LINE_CHARACTERS_MAX]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
