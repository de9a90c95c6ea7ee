"""One heap of deadlines for a whole machine, however many entities it holds.

Owns deadlines by key. Never reads a clock and never calls anybody: the owner asks what is due.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from heapq import heapify, heappop, heappush

from penstock.machine.decision import TimerCancel, TimerChange

TimerKey = Hashable

_GARBAGE_MIN = 64


class Timers:
    """A changed or cancelled deadline stays in the heap until it surfaces, or until such leftovers
    outnumber the living; both operations so stay logarithmic."""

    __slots__ = ("_deadlines", "_heap", "_sequence")

    def __init__(self) -> None:
        self._deadlines: dict[TimerKey, tuple[int, int]] = {}
        # The sequence number keeps keys of unlike types from ever being compared.
        self._heap: list[tuple[int, int, TimerKey]] = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._deadlines)

    def apply(self, changes: Iterable[TimerChange]) -> None:
        for change in changes:
            if isinstance(change, TimerCancel):
                self.cancel(change.key)
            else:
                self.schedule(change.key, change.deadline_ms)

    def schedule(self, key: TimerKey, deadline_ms: int) -> None:
        self._sequence += 1
        self._deadlines[key] = (deadline_ms, self._sequence)
        heappush(self._heap, (deadline_ms, self._sequence, key))
        self._shed_garbage()

    def cancel(self, key: TimerKey) -> None:
        self._deadlines.pop(key, None)
        self._shed_garbage()

    def deadline_ms(self, key: TimerKey) -> int | None:
        entry = self._deadlines.get(key)
        return None if entry is None else entry[0]

    def next_deadline_ms(self) -> int | None:
        self._drop_stale_top()
        return self._heap[0][0] if self._heap else None

    def pop_next(self, now_ms: int) -> TimerKey | None:
        """The key whose deadline came first, if one has come; it is scheduled no longer.

        One at a time: what follows from the first may cancel or put off the second.
        """
        deadline = self.next_deadline_ms()
        if deadline is None or deadline > now_ms:
            return None
        _, _, key = heappop(self._heap)
        del self._deadlines[key]
        return key

    def pop_due(self, now_ms: int) -> list[TimerKey]:
        """Keys whose deadline has come, earliest first; they are scheduled no longer."""
        due: list[TimerKey] = []
        while (key := self.pop_next(now_ms)) is not None:
            due.append(key)
        return due

    def _drop_stale_top(self) -> None:
        while self._heap and not self._is_live(self._heap[0]):
            heappop(self._heap)

    def _is_live(self, entry: tuple[int, int, TimerKey]) -> bool:
        current = self._deadlines.get(entry[2])
        return current is not None and current[1] == entry[1]

    def _shed_garbage(self) -> None:
        if len(self._heap) > _GARBAGE_MIN + 2 * len(self._deadlines):
            self._heap = [entry for entry in self._heap if self._is_live(entry)]
            heapify(self._heap)
