"""Duplicates known from memory: the last so many events that this process has seen."""

from __future__ import annotations

import threading
from collections import OrderedDict

from penstock.client.inbox.identity import Received, event_id


class Window:
    """For work that may rarely be done twice: it forgets with the process. Threads may share it."""

    def __init__(self, events_max: int = 100_000) -> None:
        if events_max < 1:
            raise ValueError(f"a window holds at least one event, not {events_max}")
        self._events_max = events_max
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def first(self, message: Received) -> bool:
        """Whether the event was not seen before; from now on it was."""
        event = event_id(message)
        with self._lock:
            if event in self._seen:
                self._seen.move_to_end(event)
                return False
            self._seen[event] = None
            if len(self._seen) > self._events_max:
                self._seen.popitem(last=False)
            return True

    def forget(self, message: Received) -> None:
        """What was begun has failed: the next time is a first one again."""
        with self._lock:
            self._seen.pop(event_id(message), None)
