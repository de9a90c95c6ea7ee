"""One line on stderr that says what is being waited for, rewritten in place on a terminal.

Where stderr is a file or a pipe, the first and the last state are printed and nothing between.
"""

from __future__ import annotations

import sys
import time
from typing import Self

_WIDTH = 100


class ProgressLine:
    def __init__(self, title: str) -> None:
        self._title = title
        self._started = time.monotonic()
        self._live = sys.stderr.isatty()

    def __enter__(self) -> Self:
        self._write(f"penstock: {self._title} ...", end="" if self._live else "\n")
        return self

    def show(self, what: str) -> None:
        if self._live:
            line = f"penstock: {self._title}: {what}"
            self._write("\r" + line.ljust(_WIDTH), end="")

    def __exit__(self, failed: object, *_: object) -> None:
        seconds = time.monotonic() - self._started
        how = "failed" if failed else "done"
        start = "\r" if self._live else ""
        self._write(f"{start}penstock: {self._title}: {how} in {seconds:.1f} s".ljust(_WIDTH))

    def _write(self, text: str, end: str = "\n") -> None:
        sys.stderr.write(text.rstrip() + end if end else text)
        sys.stderr.flush()
