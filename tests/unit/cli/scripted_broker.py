"""A broker that says what a test wants it to say: for moments that pass too soon on a real one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from penstock.protocol.api_table import APIS
from penstock.protocol.codec import decoder
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, decode_request_header, encode_response
from penstock.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)


class ScriptedBroker:
    """Answers what it knows; to None, and to everything else, it is silent."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.servers = f"127.0.0.1:{self.port}"
        self.answers: dict[type[Entity], Callable[[Any], Entity | None]] = {
            ApiVersionsRequest: lambda _: all_versions()
        }
        self.asked: list[Entity] = []
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> ScriptedBroker:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._server, *self._connections):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self._connections.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection.makefile("rb") as stream:
            while size := stream.read(4):
                self._answer(connection, stream.read(int.from_bytes(size, "big")))

    def _answer(self, connection: socket.socket, frame: bytes) -> None:
        header, start = decode_request_header(frame)
        key, version = header.request_api_key, header.request_api_version
        cls = API_BY_KEY[key].request_class()
        request, _ = decoder(cls, version)(frame, start)
        self.asked.append(request)
        answer = self.answers.get(cls, lambda _: None)(request)
        if answer is not None:
            parts: list[Any] = encode_response(header.correlation_id, key, version, answer)
            connection.sendall(b"".join(map(bytes, parts)))


def all_versions() -> ApiVersionsResponse:
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(
                api_key=each.key,
                min_version=each.min_version,
                max_version=each.max_stable_version,
            )
            for each in APIS
        ]
    )
