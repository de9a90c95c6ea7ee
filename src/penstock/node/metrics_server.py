"""Serves `/metrics` over HTTP, and `/healthz` for whoever only wants to know that it lives.

It can be encrypted, and `/metrics` can ask for a token: `Authorization: Bearer ...`.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from penstock.network.sockets import ListenError

if TYPE_CHECKING:
    import ssl

REQUEST_BYTES_MAX = 16 * 1024
REQUEST_TIMEOUT_S = 10.0
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricsServer:
    """`token` and `context` give what is in force now; None for neither."""

    def __init__(
        self,
        render: Callable[[], Awaitable[bytes]],
        token: Callable[[], str | None] = lambda: None,
        context: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._render = render
        self._token = token
        self._context = context
        self._server: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> tuple[str, int]:
        try:
            self._server = await asyncio.start_server(
                self._serve, host, port, limit=REQUEST_BYTES_MAX, ssl=self._first_context()
            )
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise ListenError(
                f"{host}:{port} is in use by another process: stop it or choose another --metrics"
            ) from None
        name = self._server.sockets[0].getsockname()
        return name[0], name[1]

    def _first_context(self) -> ssl.SSLContext | None:
        """Each connection takes the one that is in force by then: certificates change."""
        current = self._context
        if current is None:
            return None

        def follow(connection: Any, _: str | None, __: ssl.SSLContext) -> None:
            connection.context = current()

        context = current()
        context.sni_callback = follow
        return context

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._answer(head))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _is_allowed(self, head: bytes) -> bool:
        token = self._token()
        return token is None or hmac.compare_digest(_bearer(head), token.encode())

    async def _answer(self, head: bytes) -> bytes:
        words = head.split(b" ", 2)
        if len(words) < 3 or words[0] not in (b"GET", b"HEAD"):
            return _response("405 Method Not Allowed", b"only GET is served\n")
        path = words[1].split(b"?", 1)[0]
        if path == b"/metrics":
            if not self._is_allowed(head):
                return _response("401 Unauthorized", b"Authorization: Bearer TOKEN is missing\n")
            return _response("200 OK", await self._render())
        if path == b"/healthz":
            return _response("200 OK", b"ok\n")
        return _response("404 Not Found", b"try /metrics\n")


def _bearer(head: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"authorization":
            kind, _, token = value.strip().partition(b" ")
            return token.strip() if kind.lower() == b"bearer" else b""
    return b""


def _response(status: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
