"""A value that is not there yet, without a task and without a turn of the event loop.

Thousands of parked long polls, joins that wait for other members, and every acknowledgement that
waits for a flush go through here: settling calls the one listener at once, cancelling tells the one
who would have settled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
U = TypeVar("U")


class Later(Generic[T]):
    """Settled or cancelled at most once, by the event loop's thread.

    There is one chain of owners from who makes it to who listens, so what the ones between make of
    the value is kept here: one object for a waiting request, however many hands it goes through.
    """

    __slots__ = ("_changes", "_listener", "_on_cancel", "_on_error", "_recover")

    def __init__(self, on_cancel: Callable[[], object] | None = None) -> None:
        self._listener: Callable[[Any], object] | None = None
        self._on_error: Callable[[Exception], None] | None = None
        self._on_cancel = on_cancel
        self._changes: tuple[Callable[[Any], Any], ...] = ()
        self._recover: Callable[[Exception], Any] | None = None

    def listen(
        self,
        listener: Callable[[T], object],
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:
        self._listener = listener
        self._on_error = on_error

    def settle(self, value: T) -> None:
        """Whoever made this settles it after it was handed on, never before."""
        listener, self._listener, self._on_cancel = self._listener, None, None
        if listener is None:
            return
        try:
            changed: Any = value
            for change in self._changes:
                changed = change(changed)
        except Exception as error:
            self._report(error)
        else:
            listener(changed)

    def cancel(self) -> None:
        on_cancel, self._listener, self._on_cancel = self._on_cancel, None, None
        if on_cancel is not None:
            on_cancel()

    def fail(self, error: Exception) -> None:
        """The value will never come. A fault of our own that nobody recovers from must not reach
        whoever settles others after this one."""
        if self._listener is None:
            return
        try:
            if self._recover is None:
                raise error
            value = self._recover(error)
        except Exception as unrecovered:
            self._listener = self._on_cancel = None
            self._report(unrecovered)
        else:
            self.settle(value)

    def map(self, change: Callable[[T], U]) -> Later[U]:
        """What becomes of the value on its way: from here on this is a `Later` of that."""
        self._changes = (*self._changes, change)
        return cast("Later[U]", self)

    def recover(self, recover: Callable[[Exception], T]) -> None:
        """What is the value when there is none, or an error raised anew. Only whoever has it from
        its maker can say, before any change."""
        self._recover = recover

    def _report(self, error: Exception) -> None:
        if self._on_error is None:
            raise error
        self._on_error(error)


def future_of(later: Later[T]) -> asyncio.Future[T]:
    """For a coroutine to await. It listens from now on, not from when it is awaited: what is
    settled in between is not missed."""
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def settle(value: T) -> None:
        if not future.done():
            future.set_result(value)

    def fail(error: Exception) -> None:
        if not future.done():
            future.set_exception(error)

    later.listen(settle, fail)
    return future
