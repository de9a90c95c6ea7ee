"""One heap of deadlines for a whole machine, however many entities it holds.

Owns deadlines by key. Never reads a clock and never calls anybody: the owner asks what is due.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from heapq import heapify, heappop, heappush, heapreplace
from math import inf

from penstock.machine.decision import TimerCancel, TimerChange

TimerKey = Hashable

_GARBAGE_MIN = 64

_Place = tuple[int, int, TimerKey]


class _Entry:
    """When a key is due, and the one place in the heap that counts for it: never behind that."""

    __slots__ = ("deadline_ms", "place")

    def __init__(self) -> None:
        self.deadline_ms = 0
        self.place: _Place = (0, 0, None)


class Timers:
    """A deadline that is put off keeps its place in the heap and moves when it surfaces there: a
    session that is renewed again and again costs next to nothing. One that is cancelled or brought
    forward leaves its old place behind, until it surfaces or such leftovers outnumber the living.
    """

    __slots__ = ("_entries", "_heap", "_sequence")

    def __init__(self) -> None:
        self._entries: dict[TimerKey, _Entry] = {}
        # The sequence number keeps keys of unlike types from ever being compared.
        self._heap: list[_Place] = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._entries)

    def apply(self, changes: Iterable[TimerChange]) -> float:
        """The earliest deadline among those set, infinity if none was."""
        earliest = inf
        for change in changes:
            if isinstance(change, TimerCancel):
                self.cancel(change.key)
            else:
                key, deadline_ms = change
                self.schedule(key, deadline_ms)
                if deadline_ms < earliest:
                    earliest = deadline_ms
        return earliest

    def schedule(self, key: TimerKey, deadline_ms: int) -> None:
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry()
        elif entry.place[0] <= deadline_ms:
            entry.deadline_ms = deadline_ms
            return
        entry.deadline_ms = deadline_ms
        heappush(self._heap, self._new_place(key, entry))
        self._shed_garbage()

    def cancel(self, key: TimerKey) -> None:
        if self._entries.pop(key, None) is not None:
            self._shed_garbage()

    def deadline_ms(self, key: TimerKey) -> int | None:
        entry = self._entries.get(key)
        return None if entry is None else entry.deadline_ms

    def next_deadline_ms(self) -> int | None:
        self._settle_top()
        return self._heap[0][0] if self._heap else None

    def pop_next(self, now_ms: int) -> TimerKey | None:
        """The key whose deadline came first, if one has come; it is scheduled no longer.

        One at a time: what follows from the first may cancel or put off the second.
        """
        if not self._heap or self._heap[0][0] > now_ms:
            return None
        deadline = self.next_deadline_ms()
        if deadline is None or deadline > now_ms:
            return None
        _, _, key = heappop(self._heap)
        del self._entries[key]
        return key

    def _new_place(self, key: TimerKey, entry: _Entry) -> _Place:
        self._sequence += 1
        entry.place = (entry.deadline_ms, self._sequence, key)
        return entry.place

    def _settle_top(self) -> None:
        """Until the first of the heap stands where its deadline is."""
        while self._heap:
            top = self._heap[0]
            key = top[2]
            entry = self._entries.get(key)
            if entry is None or entry.place is not top:
                heappop(self._heap)
            elif entry.deadline_ms == top[0]:
                return
            else:
                heapreplace(self._heap, self._new_place(key, entry))

    def _shed_garbage(self) -> None:
        if len(self._heap) > _GARBAGE_MIN + 2 * len(self._entries):
            self._heap = [entry.place for entry in self._entries.values()]
            heapify(self._heap)
