"""What a command waits for, on stderr: one line that changes, or a line now and then in a file."""

from __future__ import annotations

import sys
import time

_EVERY_S = 10.0
_WIDTH_MAX = 200


class StatusLine:
    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._written_s = float("-inf")
        self._kind = ""
        self._drawn = False

    def show(self, kind: str, text: str) -> None:
        """Where no terminal is: at once if it waits for another kind of thing, else seldom."""
        if self._terminal:
            sys.stderr.write(f"\r{text[: _columns()]}\x1b[K")
            self._drawn = True
        elif kind != self._kind or time.monotonic() >= self._written_s + _EVERY_S:
            sys.stderr.write(f"{text}\n")
            self._written_s = time.monotonic()
        self._kind = kind
        sys.stderr.flush()

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False


def _columns() -> int:
    from shutil import get_terminal_size

    return min(get_terminal_size().columns - 1, _WIDTH_MAX)
