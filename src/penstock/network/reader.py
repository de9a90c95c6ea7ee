"""Cuts a byte stream into frames: bytes in, frames out, no socket.

Small frames are handed out in place, as views into the receive buffer that all connections
share: they are only valid until the next call. A frame that has not fully arrived moves into a
buffer of its own, into which the socket then reads directly, so a megabyte is copied once. That
buffer is a few times as large as what has arrived of the frame, whatever size it announced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

from penstock.model.error import ProtocolError
from penstock.network.budget import FrameBudget

SIZE = Struct(">i")
FIRST_BUFFER_BYTES = 64 * 1024
GROWTH = 4


class FrameReader:
    __slots__ = ("_budget", "_buffer", "_filled", "_head", "_limit_bytes", "_size", "starved")

    def __init__(self, budget: FrameBudget, limit_bytes: int) -> None:
        self._budget = budget
        self._limit_bytes = limit_bytes
        self._head = b""
        self._buffer: bytearray | None = None
        self._filled = 0
        self._size = 0
        self.starved = False
        """True while a frame waits for memory: nothing may be read from the socket."""

    def target(self, shared: memoryview) -> memoryview:
        """Where the next bytes of the socket go."""
        if self._buffer is None:
            return shared
        return memoryview(self._buffer)[self._filled : min(self._size, len(self._buffer))]

    def feed(self, shared: memoryview, count: int) -> Iterable[memoryview]:
        """Frames completed by `count` bytes that were read into `target`."""
        if self._buffer is not None:
            return self._fill(self._buffer, count)
        if count > 4 and not self._head:
            (size,) = SIZE.unpack_from(shared)
            if size + 4 == count and size <= self._limit_bytes:
                # Of a client that waits for its answers: one frame and nothing else.
                return (shared[4:count],)
        return self._cut(shared, count)

    def _fill(self, buffer: bytearray, count: int) -> Iterator[memoryview]:
        self._filled += count
        if self._filled == self._size:
            self._buffer = None
            try:
                yield memoryview(buffer)[: self._size]
            finally:
                self._budget.end(self)
                self._budget.give_back(buffer)
        elif self._filled == len(buffer):
            self._grow(buffer)

    def retry(self) -> None:
        """Asks again for the memory that was refused."""
        if not self.starved:
            return
        self.starved = False
        if self._buffer is not None:
            self._grow(self._buffer)
        else:
            self._begin(memoryview(self._head), self._size)

    def close(self) -> None:
        buffer, self._buffer = self._buffer, None
        if buffer is not None:
            self._budget.end(self)
            self._budget.give_back(buffer)

    def _cut(self, data: memoryview, count: int) -> Iterator[memoryview]:
        if self._head:
            # At most the beginning of one small frame: joining it costs less than a second path.
            joined = bytearray(self._head)
            joined += data[:count]
            self._head = b""
            data, count = memoryview(joined), len(joined)
        pos = 0
        while count - pos >= 4:
            size = self._checked(SIZE.unpack_from(data, pos)[0])
            end = pos + 4 + size
            if end > count:
                self._begin(data[pos + 4 : count], size)
                return
            yield data[pos + 4 : end]
            pos = end
        if pos < count:
            self._head = bytes(data[pos:count])

    def _checked(self, size: int) -> int:
        if not 0 < size <= self._limit_bytes:
            raise ProtocolError(
                f"frame of {size} bytes; socket.request.max.bytes is {self._limit_bytes}"
            )
        return size

    def _begin(self, data: memoryview, size: int) -> None:
        self._size = size
        buffer = self._budget.take(min(size, max(FIRST_BUFFER_BYTES, GROWTH * len(data))))
        if buffer is None:
            self._head = bytes(data)
            self.starved = True
            return
        self._head = b""
        buffer[: len(data)] = data
        self._buffer = buffer
        self._filled = len(data)

    def _grow(self, buffer: bytearray) -> None:
        larger = self._budget.grow(buffer, min(self._size, GROWTH * self._filled), self)
        if larger is None:
            self.starved = True
            return
        larger[: self._filled] = memoryview(buffer)[: self._filled]
        self._buffer = larger
        self._budget.give_back(buffer)
