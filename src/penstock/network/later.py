"""A value that is not there yet, without a task and without a turn of the event loop.

Thousands of parked long polls, and every acknowledgement that waits for a flush, go through
here: settling calls the one listener at once, cancelling tells the one who would have settled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Later(Generic[T]):
    """Settled or cancelled at most once, by the event loop's thread."""

    __slots__ = ("_listener", "_on_cancel", "_on_error")

    def __init__(self, on_cancel: Callable[[], None] | None = None) -> None:
        self._listener: Callable[[T], None] | None = None
        self._on_error: Callable[[Exception], None] | None = None
        self._on_cancel = on_cancel

    def listen(
        self,
        listener: Callable[[T], None],
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:
        self._listener = listener
        self._on_error = on_error

    def settle(self, value: T) -> None:
        """Whoever made this settles it after it was handed on, never before."""
        listener, self._listener, self._on_cancel = self._listener, None, None
        if listener is not None:
            listener(value)

    def cancel(self) -> None:
        on_cancel, self._listener, self._on_cancel = self._on_cancel, None, None
        if on_cancel is not None:
            on_cancel()

    def fail(self, error: Exception) -> None:
        """A fault of our own: it must not reach whoever settles others after this one."""
        on_error, self._listener, self._on_cancel = self._on_error, None, None
        if on_error is None:
            raise error
        on_error(error)

    def map(self, change: Callable[[T], U]) -> Later[U]:
        mapped: Later[U] = Later(self.cancel)

        def pass_on(value: T) -> None:
            try:
                changed = change(value)
            except Exception as error:
                mapped.fail(error)
            else:
                mapped.settle(changed)

        self.listen(pass_on, mapped.fail)
        return mapped
