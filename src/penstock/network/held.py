"""Writes that are put off while several requests of one read are served, so that they share one.

A client that sends its requests without waiting for answers gets all of these answers at once, in
one send. What its requests have to write before that may then be written once as well. Owns when:
nothing leaves on any connection before what is held is written.
"""

from __future__ import annotations

from collections.abc import Callable

Write = Callable[[], bool]
"""Writes now, and says whether that succeeded."""


class HeldWrites:
    __slots__ = ("_lost", "holding", "writes")

    def __init__(self) -> None:
        self.holding = False
        """Whether a write may be put off at all."""
        self.writes: list[Write] = []
        """Put off so far: whoever sends looks here first, and has them settled."""
        self._lost = False

    def begin(self) -> None:
        self.holding = True
        self._lost = False

    def add(self, write: Write) -> None:
        """To be called before the next reply leaves, whoever's it is."""
        self.writes.append(write)

    def settle(self) -> None:
        writes, self.writes = self.writes, []
        for write in writes:
            if not write():
                self.lose()

    def lose(self) -> None:
        """Something held was tried before it was its turn, and cannot be written any more."""
        self._lost = True

    def end(self) -> bool:
        """False where something held since `begin` was not written: replies that were made in the
        belief that it would be must not leave."""
        if self.writes:
            self.settle()
        self.holding = False
        return not self._lost
