"""What happened, in order: two runs of one seed have the same trace, to the last byte.

Kept as a running digest and the last events; all of them only where asked for, since a long run
has millions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from hashlib import sha256

LAST_EVENTS = 200


class Trace:
    def __init__(self, now_ns: Callable[[], int], *, whole: bool = False) -> None:
        self._now_ns = now_ns
        self._digest = sha256()
        self.count = 0
        self.events: deque[str] = deque(maxlen=None if whole else LAST_EVENTS)

    def note(self, event: str) -> None:
        line = f"{self._now_ns()} {event}"
        self._digest.update(line.encode())
        self._digest.update(b"\n")
        self.events.append(line)
        self.count += 1

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()
