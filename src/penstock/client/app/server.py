"""`/metrics` for Prometheus and `/healthz` for whoever restarts what does not live, over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from penstock.client.app.metric import AppMetrics
from penstock.client.prometheus import opening, registry_of

_REQUEST_BYTES_MAX = 16 * 1024
_REQUEST_TIMEOUT_S = 10.0
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Health = Callable[[], tuple[bool, dict[str, Any]]]


class AppServer:
    def __init__(self, metrics: AppMetrics, health: Health) -> None:
        self._registry = registry_of(metrics)
        self._health = health
        self._server: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> tuple[str, int]:
        with opening(host, port):
            self._server = await asyncio.start_server(
                self._serve, host, port, limit=_REQUEST_BYTES_MAX
            )
        name = self._server.sockets[0].getsockname()
        return name[0], name[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        from prometheus_client import generate_latest

        words = head.split(b" ", 2)
        path = words[1].partition(b"?")[0] if len(words) > 1 else b""
        if path == b"/metrics":
            return _response("200 OK", _METRICS_TYPE, generate_latest(self._registry))
        if path == b"/healthz":
            well, said = self._health()
            status = "200 OK" if well else "503 Service Unavailable"
            return _response(status, "application/json", json.dumps(said).encode())
        return _response("404 Not Found", "text/plain", b"/metrics or /healthz\n")


def _response(status: str, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body
