"""Makes encrypted connections to other nodes, and checks that they are who they should be."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from penstock.network.sockets import StreamSocket
from penstock.network.tls.stream import PIECE_BYTES, TlsStream
from penstock.peer.dialer import Dialer


class TlsDialer:
    """`context` gives what is in force now."""

    session_s = None

    def __init__(self, dialer: Dialer, context: Callable[[], ssl.SSLContext]) -> None:
        self._dialer = dialer
        self._context = context

    async def connect(self, host: str, port: int, /) -> TlsStream:
        sock = await self._dialer.connect(host, port)
        try:
            stream = TlsStream(sock, self._context(), server_name=host)
            await _shake_hands(stream, sock)
        except BaseException:
            sock.close()
            raise
        return stream


async def _shake_hands(stream: TlsStream, sock: StreamSocket) -> None:
    readable = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sock.fileno(), readable.set)
    try:
        # What is sent fits in the socket's own memory: nothing was sent before.
        while not stream.shake_hands():
            stream.feed(await _received(sock, readable))
    finally:
        loop.remove_reader(sock.fileno())


async def _received(sock: StreamSocket, readable: asyncio.Event) -> bytes:
    while True:
        readable.clear()
        try:
            data = sock.recv(PIECE_BYTES)
        except (BlockingIOError, InterruptedError):
            await readable.wait()
            continue
        if not data:
            raise ConnectionResetError("the other side ended the TLS handshake")
        return data
