"""Cuts a byte stream into frames: bytes in, frames out, no socket.

Small frames are handed out in place, as views into the receive buffer that all connections
share: they are only valid until the next call. A frame that has not fully arrived moves into a
buffer of its own, into which the socket then reads directly, so a megabyte is copied once. That
buffer is a few times as large as what has arrived of the frame, whatever size it announced.

Whoever takes the frames may stop in between: `halt` keeps what was read and not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from struct import Struct

from penstock.model.error import ProtocolError
from penstock.network.budget import FrameBudget

SIZE = Struct(">i")
FIRST_BUFFER_BYTES = 64 * 1024
SMALL_BUFFER_BYTES = 4096
"""While memory is tight: of a first buffer, and of one read."""
GROWTH = 4


class FrameReader:
    """`give_up` is told the reason when this frame's memory is needed elsewhere; it closes the
    connection, and with it this reader."""

    __slots__ = (
        "_budget",
        "_buffer",
        "_filled",
        "_halted",
        "_head",
        "_kept",
        "_size",
        "_taken_again",
        "_wanted",
        "give_up",
        "limit_bytes",
        "starved",
        "stopped",
    )

    def __init__(
        self, budget: FrameBudget, limit_bytes: int, give_up: Callable[[str], None]
    ) -> None:
        self._budget = budget
        self.limit_bytes = limit_bytes
        self.give_up = give_up
        self._head = b""
        self._buffer: bytearray | None = None
        self._filled = 0
        self._size = 0
        self._wanted = 0
        self.starved = False
        """True while a frame waits for memory."""
        self.stopped = False
        """True while nothing may be read: a frame waits for memory, or frames to be taken."""
        self._kept: memoryview | None = None
        self._halted = self._taken_again = False

    @property
    def filled_bytes(self) -> int:
        return self._filled

    @property
    def frame_bytes(self) -> int:
        return self._size

    @property
    def has_kept(self) -> bool:
        return self._kept is not None

    def target(self, shared: memoryview) -> memoryview:
        """Where the next bytes of the socket go."""
        if self._buffer is None:
            return shared[:SMALL_BUFFER_BYTES] if self._budget.is_tight else shared
        return memoryview(self._buffer)[self._filled : min(self._size, len(self._buffer))]

    def feed(self, shared: memoryview, count: int) -> Iterable[memoryview]:
        """Frames completed by `count` bytes that were read into `target`."""
        if self._buffer is not None:
            return self._fill(self._buffer, count)
        if count > 4 and not self._head:
            (size,) = SIZE.unpack_from(shared)
            if size + 4 == count and size <= self.limit_bytes:
                # Of a client that waits for its answers: one frame and nothing else.
                return (shared[4:count],)
        return self._cut(shared, count)

    def halt(self, *, again: bool) -> None:
        """No more frames are taken for now; with `again` the last one was not taken either."""
        self._halted, self._taken_again = True, again

    def keep(self, shared: memoryview, count: int) -> None:
        """The one frame that `feed` gave for `count` bytes was not taken."""
        self._keep(memoryview(bytearray(shared[:count])))

    def kept(self) -> Iterator[memoryview]:
        """What was kept, to be taken now."""
        data, self._kept = self._kept, None
        assert data is not None
        self.stopped = False
        self._budget.discharge(len(data))
        if self._buffer is None:
            return self._cut(data, len(data), is_own=True)
        return self._take_whole(self._buffer)

    def wait(self, resume: Callable[[], None]) -> None:
        """For the memory that was refused."""
        held_bytes = 0 if self._buffer is None else len(self._buffer)
        self._budget.wait(self._wanted, held_bytes, self, resume)

    def retry(self) -> None:
        """Asks again for the memory that was refused."""
        if not self.starved:
            return
        self.starved = self.stopped = False
        if self._buffer is not None:
            self._grow(self._buffer)
        else:
            self._start(memoryview(self._head))

    def close(self) -> None:
        self._budget.leave(self)
        if self._kept is not None:
            kept, self._kept = self._kept, None
            self._budget.discharge(len(kept))
        buffer, self._buffer = self._buffer, None
        if buffer is not None:
            self._budget.give_back(buffer, self)

    def _keep(self, data: memoryview) -> None:
        self._kept = data
        self.stopped = True
        self._budget.charge(len(data))

    # A frame in a buffer of its own

    def _fill(self, buffer: bytearray, count: int) -> Iterator[memoryview]:
        self._filled += count
        if self._filled == self._size:
            yield from self._take_whole(buffer)
        elif self._filled == len(buffer):
            self._grow(buffer)

    def _take_whole(self, buffer: bytearray) -> Iterator[memoryview]:
        """The buffer is given back behind the frame, unless it is to be taken again."""
        self._budget.leave(self)
        self._buffer = None
        try:
            yield memoryview(buffer)[: self._size]
        finally:
            halted, self._halted = self._halted, False
            if halted and self._taken_again:
                self._buffer = buffer
                self._keep(memoryview(b""))
            else:
                self._budget.give_back(buffer, self)

    def _grow(self, buffer: bytearray) -> None:
        self._wanted = min(self._size, GROWTH * self._filled)
        larger = self._budget.grow(buffer, self._wanted, self)
        if larger is None:
            self.starved = self.stopped = True
            return
        larger[: self._filled] = memoryview(buffer)[: self._filled]
        self._buffer = larger

    # Frames in the shared buffer

    def _cut(self, data: memoryview, count: int, is_own: bool = False) -> Iterator[memoryview]:
        if self._head:
            # At most the beginning of one small frame: joining it costs less than a second path.
            joined = bytearray(self._head)
            joined += data[:count]
            self._head = b""
            data, count, is_own = memoryview(joined), len(joined), True
        pos = 0
        while count - pos >= 4:
            size = self._checked(SIZE.unpack_from(data, pos)[0])
            end = pos + 4 + size
            if end > count:
                self._begin(data[pos + 4 : count], size)
                return
            yield data[pos + 4 : end]
            if self._halted:
                self._halted = False
                rest = data[pos if self._taken_again else end : count]
                if rest:
                    self._keep(rest if is_own else memoryview(bytearray(rest)))
                return
            pos = end
        if pos < count:
            self._head = bytes(data[pos:count])

    def _checked(self, size: int) -> int:
        if not 0 < size <= self.limit_bytes:
            raise ProtocolError(
                f"frame of {size} bytes; at most {self.limit_bytes} are taken here "
                "(socket.request.max.bytes; before a login sasl.server.max.receive.size)"
            )
        return size

    def _begin(self, data: memoryview, size: int) -> None:
        self._size = size
        first_bytes = SMALL_BUFFER_BYTES if self._budget.is_tight else FIRST_BUFFER_BYTES
        self._wanted = min(size, max(first_bytes, GROWTH * len(data)))
        self._start(data)

    def _start(self, data: memoryview) -> None:
        buffer = self._budget.take(self._wanted, self)
        if buffer is None:
            self._head = bytes(data)
            self.starved = self.stopped = True
            return
        self._head = b""
        buffer[: len(data)] = data
        self._buffer = buffer
        self._filled = len(data)
