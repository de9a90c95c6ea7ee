"""Bounds the memory of large requests, over all connections together.

A frame that does not fit in the shared receive buffer needs memory of its own, and gets more of it
as it arrives: announcing a large frame costs others nothing. When there is no more, who asks
waits, all but one: so that half-read requests never starve each other, one of them may finish.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

KEPT_BUFFERS = 4
KEPT_BUFFER_BYTES_MAX = 4 * 1024 * 1024


class FrameBudget:
    __slots__ = ("_favoured", "_free", "_limit_bytes", "_used_bytes", "_waiting")

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._used_bytes = 0
        self._waiting: deque[Callable[[], None]] = deque()
        self._free: list[bytearray] = []
        self._favoured: object = None

    @property
    def used_bytes(self) -> int:
        return self._used_bytes

    def take(self, size: int) -> bytearray | None:
        """A buffer of at least `size` bytes, or None: then `wait` and try again."""
        if self._used_bytes and self._used_bytes + size > self._limit_bytes:
            return None
        return self._allocate(size)

    def grow(self, buffer: bytearray, size: int, holder: object) -> bytearray | None:
        """A larger buffer in place of this one, which is then still to be given back."""
        if self._used_bytes - len(buffer) + size > self._limit_bytes:
            if self._favoured not in (None, holder):
                return None
            self._favoured = holder
        return self._allocate(size)

    def end(self, holder: object) -> None:
        """The holder's frame is complete or abandoned: somebody else may be favoured now."""
        if self._favoured is holder:
            self._favoured = None

    def _allocate(self, size: int) -> bytearray:
        for i, buffer in enumerate(self._free):
            if size <= len(buffer) <= 4 * size + 65536:
                del self._free[i]
                break
        else:
            # Rounded up, so that a kept buffer fits the next request of nearly the same size.
            buffer = bytearray((size + 0xFFFF) & ~0xFFFF)
        self._used_bytes += len(buffer)
        return buffer

    def wait(self, resume: Callable[[], None]) -> None:
        self._waiting.append(resume)

    def give_back(self, buffer: bytearray) -> None:
        self._used_bytes -= len(buffer)
        if len(buffer) <= KEPT_BUFFER_BYTES_MAX and len(self._free) < KEPT_BUFFERS:
            self._free.append(buffer)
        waiting, self._waiting = self._waiting, deque()
        for resume in waiting:
            resume()
