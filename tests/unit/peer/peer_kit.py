"""A node whose answers a test decides, byte by byte, and peers that call it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from struct import pack
from typing import Any

import uvloop

from penstock.peer.dialer import SocketDialer
from penstock.peer.peer import Peer
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, response_encoder
from penstock.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from penstock.protocol.messages.header import RequestHeader
from penstock.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.request_kit import decode_request

Answer = Callable[[RequestHeader, Entity], bytes | None]
"""What is sent for a request; None: nothing. Raising EOFError hangs up."""


def run(work: Coroutine[Any, Any, None]) -> None:
    """On the loop that a node runs on."""
    uvloop.run(asyncio.wait_for(work, 20))


def framed(content: bytes) -> bytes:
    return pack(">i", len(content)) + content


def answer(header: RequestHeader, message: Entity, version: int | None = None) -> bytes:
    spec = API_BY_KEY[header.request_api_key]
    version = header.request_api_version if version is None else version
    parts = response_encoder(spec, version)(header.correlation_id, message)
    return b"".join(parts)  # type: ignore[arg-type]


def api_versions(**ranges: tuple[int, int]) -> ApiVersionsResponse:
    """By name: everything as we speak it, but for those that are named."""
    spoken = {spec.name: (spec.min_version, spec.max_version) for spec in API_BY_KEY.values()}
    spoken.update(ranges)
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=spec.key, min_version=low, max_version=high)
            for spec in API_BY_KEY.values()
            for low, high in [spoken[spec.name]]
        ]
    )


def cluster_of(name: str) -> MetadataResponse:
    return MetadataResponse(cluster_id=name, brokers=[], topics=[])


def ask() -> MetadataRequest:
    return MetadataRequest(topics=[])


class Stand:
    """Answers ApiVersions as any node does, and the rest as the test says."""

    def __init__(self, rest: Answer, versions: Answer | None = None) -> None:
        self._rest = rest
        self._versions = versions or (lambda header, _: answer(header, api_versions()))
        self.connected = 0
        self.asked: list[tuple[RequestHeader, Entity]] = []
        self.port = 0
        self._server: asyncio.Server
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def hang_up_oldest(self) -> None:
        self._writers[0].transport.abort()

    def close(self) -> None:
        """As a process that ends: nobody listens, and connections break."""
        self._server.close()
        self.hang_up()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        self._writers.append(writer)
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                header, request = decode_request(await reader.readexactly(size))
                self.asked.append((header, request))
                decide = self._versions if header.request_api_key == 18 else self._rest
                said = decide(header, request)
                if said is not None:
                    writer.write(said)
        except (EOFError, ConnectionError):
            pass
        finally:
            self._writers.remove(writer)
            writer.close()


@asynccontextmanager
async def standing(rest: Answer, versions: Answer | None = None) -> AsyncIterator[Stand]:
    stand = Stand(rest, versions)
    await stand.open()
    try:
        yield stand
    finally:
        stand.close()


def peer_of(port: int, **more: Any) -> Peer:
    return Peer(SocketDialer(), "127.0.0.1", port, client_id="test", random=lambda: 0.5, **more)


async def failure_of(work: Awaitable[object]) -> BaseException:
    try:
        found = await work
    except Exception as error:
        return error
    raise AssertionError(f"it gave {found!r}")
