"""SIGTERM and Ctrl-C as something to wait for: for commands that finish what they are at."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_signal() -> Iterator[threading.Event]:
    """Set by either of them."""
    stopping = threading.Event()
    numbers = (signal.SIGTERM, signal.SIGINT)

    def stop(_number: int, _frame: Any) -> None:
        stopping.set()

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
