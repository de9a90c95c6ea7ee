"""One heap of deadlines for a whole machine, however many entities it holds.

Owns deadlines by key. Never reads a clock and never calls anybody: the owner asks what is due.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from heapq import heapify, heappop, heappush, heapreplace

from penstock.machine.decision import TimerCancel, TimerChange

TimerKey = Hashable

_GARBAGE_MIN = 64


class Timers:
    """A deadline that is put off keeps its place in the heap and moves when it surfaces there: a
    session that is renewed again and again costs next to nothing. One that is cancelled or brought
    forward leaves its old place behind, until it surfaces or such leftovers outnumber the living.
    """

    __slots__ = ("_deadlines", "_heap", "_places", "_sequence")

    def __init__(self) -> None:
        self._deadlines: dict[TimerKey, int] = {}
        # The sequence number keeps keys of unlike types from ever being compared.
        self._heap: list[tuple[int, int, TimerKey]] = []
        # Of each key the one entry of the heap that counts: never behind its deadline.
        self._places: dict[TimerKey, tuple[int, int, TimerKey]] = {}
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
        self._deadlines[key] = deadline_ms
        place = self._places.get(key)
        if place is None or place[0] > deadline_ms:
            heappush(self._heap, self._new_place(key, deadline_ms))
            self._shed_garbage()

    def cancel(self, key: TimerKey) -> None:
        if self._deadlines.pop(key, None) is not None:
            del self._places[key]
            self._shed_garbage()

    def deadline_ms(self, key: TimerKey) -> int | None:
        return self._deadlines.get(key)

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
        del self._deadlines[key]
        del self._places[key]
        return key

    def pop_due(self, now_ms: int) -> list[TimerKey]:
        """Keys whose deadline has come, earliest first; they are scheduled no longer."""
        due: list[TimerKey] = []
        while (key := self.pop_next(now_ms)) is not None:
            due.append(key)
        return due

    def _new_place(self, key: TimerKey, deadline_ms: int) -> tuple[int, int, TimerKey]:
        self._sequence += 1
        place = self._places[key] = (deadline_ms, self._sequence, key)
        return place

    def _settle_top(self) -> None:
        """Until the first of the heap stands where its deadline is."""
        while self._heap:
            top = self._heap[0]
            key = top[2]
            if self._places.get(key) is not top:
                heappop(self._heap)
                continue
            deadline_ms = self._deadlines[key]
            if deadline_ms == top[0]:
                return
            heapreplace(self._heap, self._new_place(key, deadline_ms))

    def _shed_garbage(self) -> None:
        if len(self._heap) > _GARBAGE_MIN + 2 * len(self._deadlines):
            self._heap = list(self._places.values())
            heapify(self._heap)
