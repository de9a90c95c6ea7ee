"""What is typed or sent to end a cluster that runs in the foreground: counted, never raised."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    def __init__(self) -> None:
        self.count = 0

    @contextmanager
    def caught(self) -> Iterator[None]:
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        # As `nohup` and a shell's background jobs have it.
        heard = [number for number in _SIGNALS if before[number] is not signal.SIG_IGN]
        for number in heard:
            signal.signal(number, self._on_signal)
        try:
            yield
        finally:
            for number in heard:
                signal.signal(number, before[number])

    def _on_signal(self, _number: int, _frame: object) -> None:
        self.count += 1
