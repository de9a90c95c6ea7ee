"""A long run says what happens, and that something still does when nothing was said for a while."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType

QUIET_S = 30.0


class Progress:
    """Called with lines. As a context it also speaks by itself."""

    def __init__(self, scratch: Path, quiet_s: float = QUIET_S) -> None:
        self._scratch = scratch
        self._quiet_s = quiet_s
        self._began = self._spoke = time.monotonic()
        self._last = "starting"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)

    def __call__(self, line: str) -> None:
        self._last = line
        self._print(line)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(self._quiet_s / 10):
            if time.monotonic() - self._spoke >= self._quiet_s:
                disk_mb = size_of(self._scratch) >> 20
                self._print(f"still: {self._last} ({disk_mb} MB on disk)")

    def _print(self, line: str) -> None:
        self._spoke = time.monotonic()
        print(f"[{self._spoke - self._began:6.1f} s] {line}", flush=True)


def size_of(folder: Path) -> int:
    """Bytes of all files there are just now; they come and go meanwhile."""
    found = 0
    for path in folder.rglob("*"):
        try:
            found += path.stat().st_size
        except OSError:
            continue
    return found
