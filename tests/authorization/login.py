"""A connection that is somebody's: raw requests behind SASL PLAIN."""

from __future__ import annotations

import socket
import struct
from types import TracebackType
from typing import Any

from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest

PATIENCE_S = 120.0
PASSWORD = "secret"


class Hangup(Exception):
    """The broker ended the connection instead of an answer."""


class Login:
    def __init__(self, bootstrap_servers: str, user: str) -> None:
        self._address = bootstrap_servers
        self._user = user
        self._socket = self._connect()

    def __enter__(self) -> Login:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def call(self, request: Entity, version: int) -> Any:
        try:
            return self._ask(request, version)
        except (Hangup, ConnectionError):
            self._socket.close()
            self._socket = self._connect()
            raise Hangup from None

    def _connect(self) -> socket.socket:
        host, port = self._address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        shaken = self._ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        assert not shaken.error_code, shaken
        token = f"\0{self._user}\0{PASSWORD}".encode()
        done = self._ask(SaslAuthenticateRequest(auth_bytes=token), 2)
        assert not done.error_code, done.error_message
        return self._socket

    def send(self, request: Entity, version: int) -> None:
        self._socket.sendall(encode_request(7, version, request, "authorization"))

    def _ask(self, request: Entity, version: int) -> Any:
        key = type(request).API_KEY
        assert key is not None
        self.send(request, version)
        size = struct.unpack(">i", self._read(4))[0]
        return decode_response(key, version, self._read(size))[1]

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            if not more:
                raise Hangup
            data += more
        return data
