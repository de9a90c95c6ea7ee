"""A socket whose bytes are encrypted: what `network` asks of a socket, over another one.

OpenSSL works on memory here and never on the socket: one read of the system brings many records,
and one write takes many along. How that was chosen is in `docs/decisions/0018`.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from penstock.network.sockets import Bytes, StreamSocket

PIECE_BYTES = 64 * 1024
"""Of one read or write of the socket. The memory of two pieces stays with a connection."""

_MSG_PEEK = 2
_RECEIVED = memoryview(bytearray(PIECE_BYTES))
"""Shared by all: what is in it has been passed on before anybody else reads."""


class TlsStream:
    """What was encrypted and not sent yet counts as not sent: whoever writes comes again with the
    same bytes first. The loop does not announce what is decrypted and not read: see `is_drained`.
    """

    __slots__ = (
        "_ended",
        "_incoming",
        "_outgoing",
        "_read",
        "_sock",
        "_ssl",
        "_taken_bytes",
        "_unsent",
        "is_drained",
    )

    def __init__(
        self, sock: StreamSocket, context: ssl.SSLContext, *, server_name: str | None = None
    ) -> None:
        """`server_name`: of whom is called; None for whoever is called."""
        self._sock = sock
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._ssl = context.wrap_bio(
            self._incoming,
            self._outgoing,
            server_side=server_name is None,
            server_hostname=server_name or None,
        )
        self._read: Callable[[int, memoryview], int] = self._ssl.read  # type: ignore[assignment]
        self._unsent = memoryview(b"")
        # Of the writer's bytes, those that are in `_unsent`.
        self._taken_bytes = 0
        self._ended = False
        self.is_drained = True
        """False while there may be something to read that the socket knows nothing of."""

    # The handshake

    def feed(self, data: Bytes) -> None:
        self._incoming.write(data)

    def shake_hands(self) -> bool:
        """With what has been fed. Whether it is done; SSLError where it failed, and then the other
        side was told why."""
        try:
            self._ssl.do_handshake()
        except ssl.SSLWantReadError:
            done = False
        except ssl.SSLError:
            with suppress(OSError):
                self.push()
            raise
        else:
            done = True
            self.is_drained = not self._incoming.pending
        with suppress(BlockingIOError):
            self.push()
        return done

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent) or bool(self._outgoing.pending)

    @property
    def certificate(self) -> bytes | None:
        """Of the other side, verified, in DER."""
        return self._ssl.getpeercert(binary_form=True)

    @property
    def version(self) -> str:
        return self._ssl.version() or ""

    # Reading

    def recv_into(self, buffer: bytearray | memoryview, /) -> int:
        target = memoryview(buffer)
        filled = self._decrypt(target)
        while filled < len(target) and not self._ended:
            try:
                count = self._sock.recv_into(_RECEIVED)
            except (BlockingIOError, InterruptedError):
                break
            if not count:
                self._ended = True
                break
            self._incoming.write(_RECEIVED[:count])
            filled += self._decrypt(target[filled:])
            if count < PIECE_BYTES:
                break
        if filled == len(target):
            self.is_drained = not (self._incoming.pending or self._ssl.pending() or self._ended)
        else:
            self.is_drained = not (self._ended and filled)
        if self._outgoing.pending and not self._unsent:
            # An answer of TLS itself, such as to a change of keys.
            with suppress(BlockingIOError):
                self.push()
        if not filled and not self._ended:
            raise BlockingIOError
        return filled

    def _decrypt(self, target: memoryview) -> int:
        filled, room = 0, len(target)
        incoming, pending, read = self._incoming, self._ssl.pending, self._read
        try:
            while filled < room and (incoming.pending or pending()):
                # A record at a time: OpenSSL gives no more.
                count = read(room - filled, target[filled:])
                if not count:
                    self._ended = True
                    break
                filled += count
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self._ended = True
        return filled

    def recv(self, bytes_max: int, flags: int = 0, /) -> bytes:
        """Only to see whether the other side has hung up."""
        assert flags & _MSG_PEEK, "what was decrypted is read by recv_into"
        return self._sock.recv(bytes_max, flags) if self.is_drained else b"\0"

    # Writing

    def send(self, data: Bytes, /) -> int:
        return self.sendmsg((data,))

    def sendmsg(
        self, buffers: Iterable[Bytes], ancillary: Iterable[Any] = (), flags: int = 0, /
    ) -> int:
        if self.has_unsent:
            self.push()
        skipped = sent = self._taken_bytes
        self._taken_bytes = 0
        for piece in _pieces(buffers, skipped):
            self._ssl.write(piece)
            try:
                self.push()
            except (BlockingIOError, InterruptedError):
                self._taken_bytes = len(piece)
                break
            sent += len(piece)
        if not sent:
            raise BlockingIOError
        return sent

    def push(self) -> None:
        """Sends what was encrypted; BlockingIOError while not all of it is gone."""
        while True:
            if not self._unsent:
                if not self._outgoing.pending:
                    return
                self._unsent = memoryview(self._outgoing.read())
            self._unsent = self._unsent[self._sock.send(self._unsent) :]

    # Its socket

    def fileno(self) -> int:
        return self._sock.fileno()

    def setblocking(self, flag: bool, /) -> None:
        self._sock.setblocking(flag)

    def setsockopt(self, level: int, option: int, value: int, /) -> None:
        self._sock.setsockopt(level, option, value)

    def close(self) -> None:
        """Says goodbye where that needs no waiting, so that the end is no cut."""
        if not self._unsent:
            with suppress(OSError, ValueError):
                self._ssl.unwrap()
            with suppress(OSError):
                self.push()
        self._sock.close()


def _pieces(buffers: Iterable[Bytes], skipped: int) -> Iterator[Bytes]:
    """In one row, without their beginning, as large as they are worth encrypting together."""
    joined = bytearray()
    for buffer in buffers:
        if skipped >= len(buffer):
            skipped -= len(buffer)
            continue
        view = memoryview(buffer)[skipped:]
        skipped = 0
        if len(joined) + len(view) <= PIECE_BYTES:
            joined += view
            continue
        if joined:
            yield bytes(joined)
            joined.clear()
        for start in range(0, len(view), PIECE_BYTES):
            yield view[start : start + PIECE_BYTES]
    if joined:
        yield bytes(joined)
