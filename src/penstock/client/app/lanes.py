"""Which record is worked on next: those of one lane in order, lanes beside each other. Pure.

A lane is a key of a partition, or a partition, as the consumer asks for order. A record without a
lane waits for nobody. Topics have weights: out of those that have something ready, a topic of
weight 5 is served five times as often as one of weight 1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, Protocol, TypeVar


class Laned(Protocol):
    @property
    def lane(self) -> Hashable: ...


W = TypeVar("W", bound=Laned)


class Shelf(Generic[W]):
    """What is ready of one class of topics."""

    __slots__ = ("credit", "ready", "weight")

    def __init__(self, weight: int) -> None:
        self.weight = weight
        self.credit = 0
        self.ready: deque[W] = deque()


class Lanes(Generic[W]):
    def __init__(self, weights: Iterable[int] = (1,)) -> None:
        self.shelves: list[Shelf[W]] = [Shelf(each) for each in weights]
        self._only = self.shelves[0].ready if len(self.shelves) == 1 else None
        self.waiting: dict[Hashable, list[W] | None] = {}
        """By lane that is busy: what waits for it. A list: a deque is ten times as large."""

    def __len__(self) -> int:
        """How many are ready."""
        return sum(len(each.ready) for each in self.shelves)

    def add(self, work: W, shelf: int = 0) -> None:
        lane = work.lane
        if lane is not None:
            waiting = self.waiting
            if lane in waiting:
                behind = waiting[lane]
                if behind is None:
                    waiting[lane] = [work]
                else:
                    behind.append(work)
                return
            waiting[lane] = None
        self.shelves[shelf].ready.append(work)

    def occupy(self, lane: Hashable) -> None:
        """For work that was begun without being taken here; the lane is free before."""
        if lane is not None:
            self.waiting[lane] = None

    def take(self) -> W | None:
        """The next record; its lane is busy until `release`."""
        only = self._only
        if only is not None:
            return only.popleft() if only else None
        return self._take_by_weight()

    def _take_by_weight(self) -> W | None:
        filled = [each for each in self.shelves if each.ready]
        if not filled:
            return None
        for each in filled:
            each.credit += each.weight
        best = max(filled, key=lambda each: each.credit)
        best.credit -= sum(each.weight for each in filled)
        return best.ready.popleft()

    def release(self, work: W, shelf: int = 0) -> None:
        """The record is done with: the next of its lane is ready, on the same shelf."""
        lane = work.lane
        if lane is None:
            return
        behind = self.waiting[lane]
        if behind:
            self.shelves[shelf].ready.append(behind.pop(0))
        else:
            del self.waiting[lane]

    def again(self, work: W, shelf: int = 0) -> None:
        """Ready once more, its lane still its own."""
        self.shelves[shelf].ready.append(work)

    def discard(self, unwanted: Callable[[W], bool]) -> list[W]:
        """Take out what is not begun yet; lanes of what is under way stay busy."""
        gone: list[W] = []
        for lane, behind in list(self.waiting.items()):
            if behind:
                gone += filter(unwanted, behind)
                self.waiting[lane] = [each for each in behind if not unwanted(each)] or None
        for place, shelf in enumerate(self.shelves):
            ready = list(shelf.ready)
            shelf.ready.clear()
            shelf.ready.extend(each for each in ready if not unwanted(each))
            for each in filter(unwanted, ready):
                gone.append(each)
                self.release(each, place)
        return gone
