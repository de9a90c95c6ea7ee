"""Sends reply parts on a non-blocking socket: gathered bytes, then file ranges by sendfile.

Owns what is queued for one connection and releases file parts when they are sent or dropped.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Sequence

from penstock.network.part import FilePart, Part, is_file_part
from penstock.network.sockets import RealSockets, Sockets, StreamSocket

# Below this, copying a range through memory and sending it with its header in one call is
# cheaper than a second system call and a second packet.
COPY_BYTES_MAX = 32 * 1024
# A client that does not read gets no more copies queued: ranges of files cost next to nothing.
COPIED_BYTES_MAX = 1024 * 1024
GATHER_PARTS_MAX = 64
SENDFILE_BYTES_MAX = 1024 * 1024

_MSG_MORE = getattr(socket, "MSG_MORE", 0)

_TOO_SHORT = "file is shorter than the range being sent"

_REAL = RealSockets()
_BYTES = {bytes}
# Until something waits to be sent: most connections never need a queue of their own.
_NOTHING: deque[Part] = deque()


class AnswerTally:
    """What the answers that wait to be sent take in memory, over all connections together."""

    __slots__ = ("memory_bytes",)

    def __init__(self) -> None:
        self.memory_bytes = 0


class PartWriter:
    __slots__ = ("_queue", "_sock", "_sockets", "_tally", "queued_bytes", "sent_bytes")

    def __init__(self, sock: StreamSocket, tally: AnswerTally, sockets: Sockets = _REAL) -> None:
        self._sock = sock
        self._sockets = sockets
        self._tally = tally
        self._queue = _NOTHING
        self.queued_bytes = 0
        self.sent_bytes = 0

    def write(self, parts: Sequence[Part]) -> bool:
        """Queues the parts and sends what the socket takes. True when all is sent."""
        if not self._queue:
            if len(parts) == 1:
                only = parts[0]
                if type(only) is bytes:
                    return self._send_one(only)
            elif set(map(type, parts)) == _BYTES:
                # Answers to small requests: joining them costs less than a queue.
                return self._send_one(b"".join(parts))  # type: ignore[arg-type]
            elif sum(map(len, parts)) <= COPY_BYTES_MAX:
                # A few records, as one that is produced at a time makes them.
                return self._send_one(b"".join(map(_copied, parts)))
        for part in parts:
            self._push(part)
        return self.flush()

    def flush(self) -> bool:
        queue = self._queue
        while queue:
            head = queue[0]
            try:
                if is_file_part(head):
                    done = self._send_file(head)
                else:
                    done = self._send_bytes()
            except (BlockingIOError, InterruptedError):
                return False
            if not done:
                return False
        return True

    def close(self) -> None:
        for part in self._queue:
            if is_file_part(part):
                part.release()
            else:
                self._tally.memory_bytes -= len(part)
        self._queue = _NOTHING
        self.queued_bytes = 0

    def _send_one(self, data: bytes) -> bool:
        try:
            sent = self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        self.sent_bytes += sent
        if sent == len(data):
            return True
        self._push(memoryview(data)[sent:])
        return False

    def _push(self, part: Part) -> None:
        size = len(part)
        if is_file_part(part) and self._is_copied(size):
            part = _copied(part)
            size = len(part)
        if size:
            if self._queue is _NOTHING:
                self._queue = deque()
            self._queue.append(part)
            self.queued_bytes += size
            if not is_file_part(part):
                self._tally.memory_bytes += size
        elif is_file_part(part):
            part.release()

    def _is_copied(self, size: int) -> bool:
        if not self._sockets.has_sendfile:
            return True
        return size <= COPY_BYTES_MAX and self.queued_bytes < COPIED_BYTES_MAX

    def _send_bytes(self) -> bool:
        queue = self._queue
        gathered: list[bytes | bytearray | memoryview] = []
        more = 0
        for part in queue:
            if not isinstance(part, (bytes, bytearray, memoryview)):
                more = _MSG_MORE
                break
            if len(gathered) == GATHER_PARTS_MAX:
                break
            gathered.append(part)
        sent = self._sock.sendmsg(gathered, (), more)
        self._account(sent)
        self._tally.memory_bytes -= sent
        for part in gathered:
            if sent < len(part):
                queue[0] = memoryview(part)[sent:]
                return False
            sent -= len(part)
            queue.popleft()
        return True

    def _send_file(self, part: FilePart) -> bool:
        count = min(len(part), SENDFILE_BYTES_MAX)
        sent = self._sockets.sendfile(self._sock.fileno(), part.fd, part.position, count)
        if sent == 0:
            raise ConnectionError(_TOO_SHORT)
        self._account(sent)
        if sent < len(part):
            self._queue[0] = Rest(part, sent)
            return True
        self._queue.popleft()
        part.release()
        return True

    def _account(self, sent: int) -> None:
        self.queued_bytes -= sent
        self.sent_bytes += sent


def _copied(part: Part) -> bytes | bytearray | memoryview:
    if isinstance(part, (bytes, bytearray, memoryview)):
        return part
    data = part.read()
    part.release()
    if len(data) < len(part):
        # Sent, the frame would go on with the beginning of the next one.
        raise ConnectionError(_TOO_SHORT)
    return data


class Rest:
    """What is left of a file part of which the beginning is sent."""

    __slots__ = ("_length", "_part", "fd", "position")

    def __init__(self, part: FilePart, sent: int) -> None:
        self._part: FilePart = part._part if isinstance(part, Rest) else part
        self.fd = part.fd
        self._length = len(part) - sent
        self.position = part.position + sent

    def __len__(self) -> int:
        return self._length

    def read(self) -> bytes:
        return os.pread(self.fd, self._length, self.position)

    def release(self) -> None:
        self._part.release()
