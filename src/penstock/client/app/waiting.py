"""What waits for its time, and the timer that tells when it has come.

Records that are tried again in this process, and partitions of retry topics whose next record is
not due. Neither holds a worker or a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from penstock.client.app.assignment import Assignment
from penstock.client.app.clock import Clock
from penstock.client.app.held import Held
from penstock.client.app.part import Part, Work
from penstock.client.app.poller import Poller
from penstock.client.app.retry import DUE_HEADER
from penstock.client.dead_letter import number_of

_SEEK_AGAIN_S = 0.5


class Waiting:
    def __init__(
        self,
        clock: Clock,
        assignment: Assignment,
        poller: Poller,
        on_due: Callable[[list[Work]], None],
    ) -> None:
        self._clock = clock
        self._assignment = assignment
        self._poller = poller
        self._on_due = on_due
        self._loop = asyncio.get_running_loop()
        self._records: Held[Work] = Held()
        """By the time that has elapsed: nobody else knows of their waits."""
        self._partitions: Held[tuple[Part, int]] = Held()
        """And the offset to read them again from; by the time of day, which their records name."""
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._clock.watch(self._moved)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    @property
    def next_ms(self) -> int | None:
        """Where both clocks are one, that of a test."""
        times = (self._records.next_ms, self._partitions.next_ms)
        return min((each for each in times if each is not None), default=None)

    def add(self, due_ms: int, work: Work) -> None:
        self._records.add(due_ms, work)
        self._arm()

    def discard(self, unwanted: Callable[[Work], bool]) -> list[Work]:
        return self._records.discard(unwanted)

    def sleeps(self, part: Part, message: Any) -> bool:
        """Whether this record of a retry topic is not due; then nothing after it is, either."""
        if part.waits:
            return True
        due_ms = number_of(message.headers() or [], DUE_HEADER)
        if due_ms is None or due_ms <= self._clock.now_ms():
            return False
        part.waits = True
        self._poller.hold(part.place, partial(self._is_ours, part))
        self._partitions.add(due_ms, (part, message.offset()))
        self._arm()
        return True

    def _read_again(self, part: Part, offset: int) -> None:
        def then(done: bool) -> None:
            if done:
                part.waits = part.returns = False
                self._poller.eofs.pop(part.place, None)
            elif not part.gone:
                self._loop.call_later(_SEEK_AGAIN_S, self._read_again, part, offset)

        if self._is_ours(part):
            part.returns = True
            self._poller.go_on(part.place, offset, partial(self._is_ours, part), then)

    def _is_ours(self, part: Part) -> bool:
        """Asked in the poller's thread, too."""
        return self._assignment.parts.get(part.place) is part

    def _moved(self) -> None:
        self._loop.call_soon_threadsafe(self._ring)

    def _arm(self) -> None:
        self.stop()
        waits = []
        if self._records.next_ms is not None:
            waits.append(self._records.next_ms - self._clock.elapsed_ms())
        if self._partitions.next_ms is not None:
            waits.append(self._partitions.next_ms - self._clock.now_ms())
        wait_s = self._clock.timer_s(min(waits)) if waits else None
        self._timer = None if wait_s is None else self._loop.call_later(wait_s, self._ring)

    def _ring(self) -> None:
        for part, offset in self._partitions.due(self._clock.now_ms()):
            self._read_again(part, offset)
        self._on_due(self._records.due(self._clock.elapsed_ms()))
        self._arm()
