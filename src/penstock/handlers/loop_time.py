"""How long a request kept the event loop: what it waits for in between does not count."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any


class LoopTime:
    """Runs from the start of the request; `stop` and `of` say when the loop is somebody else's."""

    __slots__ = ("_monotonic", "_since", "_total_s")

    def __init__(self, monotonic: Callable[[], float], started: float) -> None:
        self._monotonic = monotonic
        self._since: float | None = started
        self._total_s = 0.0

    def start(self) -> None:
        self._since = self._monotonic()

    def stop(self) -> None:
        if self._since is not None:
            self._total_s += self._monotonic() - self._since
            self._since = None

    def total_s(self) -> float:
        self.stop()
        return self._total_s

    def of(self, waiting: Coroutine[Any, Any, Any]) -> _Measured:
        """The same coroutine, its steps measured."""
        self.stop()
        return _Measured(self, waiting)


class _Measured:
    __slots__ = ("_spent", "_waiting")

    def __init__(self, spent: LoopTime, waiting: Coroutine[Any, Any, Any]) -> None:
        self._spent = spent
        self._waiting = waiting

    def __await__(self) -> Generator[Any, Any, Any]:
        spent, waiting = self._spent, self._waiting
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            spent.start()
            try:
                yielded = waiting.send(sent) if thrown is None else waiting.throw(thrown)
            except StopIteration as done:
                return done.value
            finally:
                spent.stop()
            sent = thrown = None
            try:
                sent = yield yielded
            except GeneratorExit:
                waiting.close()
                raise
            except BaseException as error:
                thrown = error
