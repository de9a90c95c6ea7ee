"""The handshakes of one listener: many at once, none of them at the cost of anybody else.

A client costs a socket until its first record has come, and is TLS. Handshakes have a few
milliseconds of each turn of the loop for all of them together; each has a limit of time and of
bytes, and when there are too many the oldest is ended: whoever is stuck, and never who is quick.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Final

from penstock.model.error import PenstockError
from penstock.network.sockets import StreamSocket
from penstock.network.tls import failure
from penstock.network.tls.failure import HandshakeFailures, reason_of
from penstock.network.tls.stream import PIECE_BYTES, TlsStream

HANDSHAKES_MAX: Final = 1024
SECONDS_MAX: Final = 10.0
BYTES_MAX: Final = 256 * 1024
SLICE_S: Final = 0.005
SWEEP_S: Final = 1.0

_HANDSHAKE_RECORD: Final = 22
_MAJOR_VERSION: Final = 3
_HEADER_BYTES: Final = 5
_RECORD_BYTES_MAX: Final = 16 * 1024


class NoPrincipal(PenstockError):
    """A certificate that is valid, and of nobody that is known here."""


class Handshake:
    __slots__ = (
        "began_at",
        "fd",
        "head",
        "is_waiting",
        "is_writing",
        "peer",
        "read_bytes",
        "sock",
        "stream",
    )

    def __init__(self, sock: StreamSocket, peer: str, began_at: float) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.peer = peer
        self.began_at = began_at
        self.stream: TlsStream | None = None
        self.head = b""
        """Of the first record, until it is whole."""
        self.read_bytes = 0
        self.is_waiting = False
        """For the socket to be readable, or writable where `is_writing`."""
        self.is_writing = False


class Handshakes:
    """`context` gives what is in force now; `admit` takes the stream of whoever has passed, and
    raises NoPrincipal for one that it does not know. `on_failed` hears of whoever has not."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        listener: str,
        context: Callable[[], ssl.SSLContext],
        admit: Callable[[TlsStream, str], None],
        on_failed: Callable[[str], None],
    ) -> None:
        self.failures = HandshakeFailures(listener, loop.time)
        self._loop = loop
        self._context = context
        self._admit = admit
        self._on_failed = on_failed
        self._under_way: dict[Handshake, None] = {}
        self._ready: deque[Handshake] = deque()
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._under_way)

    def begin(self, sock: StreamSocket, peer: str) -> None:
        if len(self._under_way) >= HANDSHAKES_MAX:
            self._fail(next(iter(self._under_way)), failure.TOO_MANY)
        one = Handshake(sock, peer, self._loop.time())
        self._under_way[one] = None
        self._wait_readable(one)
        if self._sweep is None:
            self._sweep = self._loop.call_later(SWEEP_S, self._end_slow)

    def close(self) -> None:
        for one in list(self._under_way):
            self._drop(one)
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None

    # In turn

    def _wait_readable(self, one: Handshake) -> None:
        one.is_waiting, one.is_writing = True, False
        self._loop.add_reader(one.fd, self._on_ready, one)

    def _wait_writable(self, one: Handshake) -> None:
        one.is_waiting, one.is_writing = True, True
        self._loop.add_writer(one.fd, self._on_ready, one)

    def _stop_waiting(self, one: Handshake) -> None:
        if one.is_waiting:
            one.is_waiting = False
            remove = self._loop.remove_writer if one.is_writing else self._loop.remove_reader
            remove(one.fd)

    def _on_ready(self, one: Handshake) -> None:
        self._stop_waiting(one)
        if not self._ready:
            self._loop.call_soon(self._work)
        self._ready.append(one)

    def _work(self) -> None:
        until = perf_counter() + SLICE_S
        while self._ready:
            one = self._ready.popleft()
            if one in self._under_way:
                self._step(one)
            if perf_counter() > until:
                break
        if self._ready:
            self._loop.call_soon(self._work)

    def _end_slow(self) -> None:
        oldest = self._loop.time() - SECONDS_MAX
        for one in list(self._under_way):
            if one.began_at > oldest:
                break
            self._fail(one, failure.TOO_SLOW)
        self._sweep = self._loop.call_later(SWEEP_S, self._end_slow) if self._under_way else None

    # One of them

    def _step(self, one: Handshake) -> None:
        try:
            if one.is_writing:
                self._flush(one)
            else:
                self._read(one)
        except (BlockingIOError, InterruptedError):
            self._wait_readable(one)
        except ssl.SSLError as error:
            self._fail(one, reason_of(error))
        except OSError:
            self._fail(one, failure.BROKEN_OFF)

    def _read(self, one: Handshake) -> None:
        data = one.sock.recv(PIECE_BYTES)
        one.read_bytes += len(data)
        if not data:
            self._fail(one, failure.BROKEN_OFF)
        elif one.read_bytes > BYTES_MAX:
            self._fail(one, failure.TOO_LARGE)
        elif one.stream is None:
            self._begin(one, one.head + data)
        else:
            one.stream.feed(data)
            self._go_on(one, one.stream)

    def _begin(self, one: Handshake, head: bytes) -> None:
        """OpenSSL has nothing to do with a client before its first words are all there."""
        if not _is_tls(head):
            self._fail(one, failure.PLAIN_TEXT)
        elif _is_whole(head):
            one.head = b""
            stream = one.stream = TlsStream(one.sock, self._context())
            stream.feed(head)
            self._go_on(one, stream)
        else:
            one.head = head
            self._wait_readable(one)

    def _go_on(self, one: Handshake, stream: TlsStream) -> None:
        if stream.shake_hands():
            # What is left to be sent goes before the first answer.
            _acknowledge(one.sock)
            self._pass(one, stream)
        elif stream.has_unsent:
            self._wait_writable(one)
        else:
            self._wait_readable(one)

    def _flush(self, one: Handshake) -> None:
        assert one.stream is not None
        try:
            one.stream.push()
        except (BlockingIOError, InterruptedError):
            self._wait_writable(one)
        else:
            self._wait_readable(one)

    def _pass(self, one: Handshake, stream: TlsStream) -> None:
        del self._under_way[one]
        try:
            self._admit(stream, one.peer)
        except NoPrincipal as error:
            self.failures.note(failure.NO_RULE, one.peer, str(error))
            stream.close()
            self._on_failed(one.peer)

    def _fail(self, one: Handshake, reason: str) -> None:
        self.failures.note(reason, one.peer)
        self._drop(one)

    def _drop(self, one: Handshake) -> None:
        self._stop_waiting(one)
        self._under_way.pop(one, None)
        one.sock.close()
        self._on_failed(one.peer)


def _is_tls(data: bytes) -> bool:
    """As far as can be told from the first bytes."""
    return data[0] == _HANDSHAKE_RECORD and data[1:2] in (b"", bytes((_MAJOR_VERSION,)))


def _is_whole(data: bytes) -> bool:
    """A record that is too large to be one is left to OpenSSL, which refuses it."""
    length = int.from_bytes(data[3:5], "big")
    return len(data) >= _HEADER_BYTES and len(data) >= min(
        _HEADER_BYTES + length, _RECORD_BYTES_MAX
    )


def _acknowledge(sock: StreamSocket) -> None:
    """At once: nothing is sent back at the end of a handshake, and a client that gathers small
    writes (Nagle, librdkafka's default) holds its first request until it hears of the last one."""
    if hasattr(socket, "TCP_QUICKACK"):
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
