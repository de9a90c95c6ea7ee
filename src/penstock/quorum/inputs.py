"""What happened to a quorum, one thing after the other, each to its end before the next.

Owns the order. Something may happen while another thing is being worked on, and work may have to
wait for a thread: what comes meanwhile waits its turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

Step = Callable[[int], None]
"""An input of raft's machine, given the time in milliseconds."""


class Inputs:
    """`work` takes one step to its end."""

    def __init__(self, work: Callable[[Step], None], on_idle: Callable[[], None]) -> None:
        self._work = work
        self._on_idle = on_idle
        self._waiting: deque[Step] = deque()
        self._is_working = False
        self._is_held = False
        self._is_closed = False

    def feed(self, step: Step) -> None:
        if not self._is_closed:
            self._waiting.append(step)
            self._go_on()

    def put_first(self, steps: Iterable[Step]) -> None:
        """What follows from the present step comes before whatever else has happened meanwhile."""
        self._waiting.extendleft(reversed(list(steps)))

    def hold(self) -> None:
        """Nothing more after the present step, until `release`."""
        self._is_held = True

    def release(self, step: Step) -> None:
        """Go on, with this first."""
        self._is_held = False
        if not self._is_closed:
            self._waiting.appendleft(step)
            self._go_on()

    def close(self) -> None:
        self._is_closed = True
        self._waiting.clear()

    def _go_on(self) -> None:
        if self._is_working:
            return
        self._is_working = True
        try:
            while self._waiting and not self._is_held:
                self._work(self._waiting.popleft())
        finally:
            self._is_working = False
        self._on_idle()
