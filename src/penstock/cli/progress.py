"""A counter with its rate on stderr, for work that takes long and a person who watches."""

from __future__ import annotations

import sys
import time

_EVERY_S = 0.2
_AFTER_S = 1.0


class Progress:
    """Silent for the first second, and always where stderr or stdout's reader is no person."""

    def __init__(self, verb: str, *, shares_terminal: bool = False, hidden: bool = False) -> None:
        self.count = 0
        self._verb = verb
        # Records printed on the same terminal already show that work goes on.
        hidden = hidden or (shares_terminal and sys.stdout.isatty())
        self._visible = sys.stderr.isatty() and not hidden
        self._started = time.monotonic()
        self._next = self._started + _AFTER_S
        self._drawn = False

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._started

    def add(self, count: int = 1) -> None:
        self.count += count
        if self._visible and time.monotonic() >= self._next:
            self._draw()

    def _draw(self) -> None:
        rate = self.count / max(self.elapsed_s, 1e-9)
        sys.stderr.write(f"\r{self._verb} {self.count:,} records, {rate:,.0f}/s\x1b[K")
        sys.stderr.flush()
        self._drawn = True
        self._next = time.monotonic() + _EVERY_S

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
