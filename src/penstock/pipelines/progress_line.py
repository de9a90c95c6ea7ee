"""One line that says what is being waited for, rewritten in place on a terminal.

Where the output is a file or a pipe, it is a plain line at the start, at the end, and now and then
between. Standard library only: it also runs before anything is installed.
"""

from __future__ import annotations

import shutil
import sys
import time
from typing import Self, TextIO

_HEARTBEAT_S = 10.0


class ProgressLine:
    """`gap_s` keeps lines in a pipe apart: for work whose steps come in quick succession."""

    def __init__(
        self,
        title: str,
        *,
        out: TextIO | None = None,
        lead: str = "penstock: ",
        gap_s: float = 5.0,
    ) -> None:
        self._lead, self._title = lead, lead + title
        self._out = out or sys.stderr
        self._gap_s = gap_s
        self._live = self._out.isatty()
        self._started = self._last = time.monotonic()
        self._shown = ""

    def __enter__(self) -> Self:
        self._write(f"{self._title} ...")
        return self

    def show(self, what: str) -> None:
        """What goes on now; call it again while that lasts, and the seconds go on."""
        since_s = time.monotonic() - self._last
        changed = what != self._shown and since_s >= self._gap_s
        if self._live or changed or since_s >= _HEARTBEAT_S:
            self._write(f"{self._title}: {what}, {self._elapsed_s():.0f} s")
            self._shown, self._last = what, time.monotonic()

    def note(self, text: str) -> None:
        """A line that stays, on a terminal as well."""
        self._write(self._lead + text, stays=True)

    def __exit__(self, failed: object, *_: object) -> None:
        how = "failed" if failed else "done"
        self._write(f"{self._title}: {how} in {self._elapsed_s():.1f} s", stays=True)

    def _elapsed_s(self) -> float:
        return time.monotonic() - self._started

    def _write(self, text: str, *, stays: bool = False) -> None:
        if self._live:
            # A line longer than the terminal would wrap, and could not be rewritten.
            cut = text if stays else text[: shutil.get_terminal_size().columns - 1]
            text = f"\r{cut}\x1b[K"
        self._out.write(text + ("\n" if stays or not self._live else ""))
        self._out.flush()
