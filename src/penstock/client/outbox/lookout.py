"""When a relay that found nothing looks again: after a while, or when it is told of something."""

from __future__ import annotations

import threading

from penstock.client.outbox.replication import Replication

_LONG_S = 1.0
_SOON_S = 0.005
_SOON_LOOKS = 8
"""Each after twice as long as the one before: a bit more than a second in all."""


class Lookout:
    """Of one shard. `look` comes before each look at the table."""

    def __init__(
        self, replication: Replication | None, poll_s: float, stopping: threading.Event
    ) -> None:
        self._replication = replication
        self._poll_s = poll_s
        self._stopping = stopping
        self._heard = 0
        self._soon = 0

    def look(self) -> None:
        """What is told from here on was not seen yet."""
        if self._replication is not None and self._replication.commits > self._heard:
            self._heard = self._replication.commits
            # A commit is told of before others can see it: a look may come too early.
            self._soon = _SOON_LOOKS

    def wait(self) -> None:
        told = self._replication
        if told is None or not told.is_open:
            self._stopping.wait(self._poll_s)
        elif self._soon:
            told.wait_beyond(self._heard, _SOON_S * 2 ** (_SOON_LOOKS - self._soon))
            self._soon -= 1
        else:
            told.wait_beyond(self._heard, _LONG_S)
