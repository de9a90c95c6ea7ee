"""A log line that says the same as one before, and is left out for a while.

librdkafka leaves out repetitions by itself, but not those of brokers that it has just looked up
anew: while the only one is away, that makes some twenty lines a second.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable

_QUIET_S = 30.0
_KNOWN_MAX = 1000
_VARYING = re.compile(r"#\w+-\d+|after \d+ms|\d+ identical")


class Repetition(logging.Filter):
    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._said: dict[str, float] = {}
        """When, by what does not vary."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = _VARYING.sub("", record.getMessage())
        now = self._now()
        if now - self._said.get(text, -_QUIET_S) < _QUIET_S:
            return False
        if len(self._said) >= _KNOWN_MAX:
            self._said.clear()
        self._said[text] = now
        return True
