"""Cuts what a node answers into frames, in memory that belongs to whoever gets them.

Records of an answer are used where they arrived, for as long as somebody looks at them: no byte
that was handed out is ever written again. Small answers share a buffer, a large one has its own,
which grows as it arrives, so that announcing one costs nothing.
"""

from __future__ import annotations

from struct import Struct

from penstock.model.error import ProtocolError

SHARED_BYTES = 16 * 1024
ROOM_MIN = 1024
"""With less than that left in the shared buffer another one is begun."""
FIRST_BYTES = 16 * 1024 * 1024
"""A larger frame is copied as it grows."""
FRAME_BYTES_MAX = 1 << 30

_SIZE = Struct(">i")


class AnswerReader:
    __slots__ = ("_filled", "_frame_bytes_max", "_is_own", "_size", "_start", "_view")

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._view = memoryview(bytearray(SHARED_BYTES))
        # What is not cut yet: of the shared buffer, or of a frame that has its own.
        self._start = 0
        self._filled = 0
        self._is_own = False
        self._size = 0

    def target(self) -> memoryview:
        """Where the next bytes of the socket go."""
        return self._view[self._filled :]

    def feed(self, count: int) -> list[memoryview]:
        """Frames completed by `count` bytes that were read into `target`."""
        self._filled += count
        return self._fill() if self._is_own else self._cut()

    def _fill(self) -> list[memoryview]:
        if self._filled == self._size:
            frame = self._view[: self._size]
            self._begin_shared(b"")
            return [frame]
        if self._filled == len(self._view):
            self._begin_own(self._view, min(self._size, 2 * self._filled))
        return []

    def _cut(self) -> list[memoryview]:
        frames: list[memoryview] = []
        view = self._view
        while self._filled - self._start >= 4:
            size = self._checked(_SIZE.unpack_from(view, self._start)[0])
            begin = self._start + 4
            if begin + size > len(view):
                self._size = size
                self._begin_own(view[begin : self._filled], min(size, FIRST_BYTES))
                return frames
            if begin + size > self._filled:
                break
            frames.append(view[begin : begin + size])
            self._start = begin + size
        if self._start and len(view) - self._filled < ROOM_MIN:
            self._begin_shared(view[self._start : self._filled])
        return frames

    def _checked(self, size: int) -> int:
        if not 0 < size <= self._frame_bytes_max:
            raise ProtocolError(f"an answer of {size} bytes")
        return size

    def _begin_shared(self, rest: bytes | memoryview) -> None:
        self._is_own = False
        self._start = 0
        self._view = memoryview(bytearray(SHARED_BYTES))
        self._keep(rest)

    def _begin_own(self, rest: memoryview, room: int) -> None:
        self._is_own = True
        self._view = memoryview(bytearray(room))
        self._keep(rest)

    def _keep(self, rest: bytes | memoryview) -> None:
        self._filled = len(rest)
        self._view[: self._filled] = rest
