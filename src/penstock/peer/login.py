"""A login to another node, as soon as a connection is there and before anything is asked on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple, cast

from penstock.model.error import ErrorCode, ProtocolError
from penstock.network.sockets import StreamSocket
from penstock.peer.connection import PeerConnection
from penstock.peer.dialer import Dialer
from penstock.peer.error import PeerError
from penstock.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from penstock.security.mechanism import PLAIN
from penstock.security.plain import plain_token
from penstock.security.sasl_error import SaslError
from penstock.security.scram_client import ScramClient

HANDSHAKE_VERSION = 1
AUTHENTICATE_VERSION = 2
LOGIN_TIMEOUT_S = 30.0
"""Whoever connects has a limit of its own, below this."""


class LoginRefused(ConnectionError):
    """The other node let this one in to its port, and no further."""


class Credentials(NamedTuple):
    mechanism: str
    name: str
    password: str


class LoginDialer:
    """Connections of another dialer, logged in. `find` gives what is to be said now."""

    def __init__(
        self, dialer: Dialer, find: Callable[[], Credentials], new_nonce: Callable[[], str]
    ) -> None:
        self._dialer = dialer
        self._find = find
        self._new_nonce = new_nonce
        self.session_s: float | None = None

    async def connect(self, host: str, port: int) -> StreamSocket:
        sock = await self._dialer.connect(host, port)
        loop = asyncio.get_running_loop()
        connection = PeerConnection(loop, sock, f"{host}:{port}", "login", lambda _: None)
        exchange = _Exchange(connection, loop.time() + LOGIN_TIMEOUT_S)
        try:
            await self._log_in(exchange)
        except (PeerError, SaslError, ProtocolError) as error:
            connection.abandon()
            raise LoginRefused(str(error)) from error
        except BaseException:
            connection.abandon()
            raise
        self.session_s = exchange.session_ms / 1000 if exchange.session_ms else None
        return connection.detach()

    async def _log_in(self, exchange: _Exchange) -> None:
        mechanism, name, password = self._find()
        await exchange.handshake(mechanism)
        if mechanism == PLAIN:
            await exchange.send(plain_token(name, password))
            return
        client = ScramClient(mechanism, name, password, self._new_nonce)
        challenge = await exchange.send(client.first())
        # Thousands of hashes: others are served meanwhile.
        final = await asyncio.to_thread(client.final, challenge)
        client.check(await exchange.send(final))


class _Exchange:
    def __init__(self, connection: PeerConnection, timeout_at: float) -> None:
        self._connection = connection
        self._timeout_at = timeout_at
        self.session_ms = 0
        """As the last answer said; 0 for a session without an end."""

    async def handshake(self, mechanism: str) -> None:
        request = SaslHandshakeRequest(mechanism=mechanism)
        answer = await self._connection.ask(request, HANDSHAKE_VERSION, self._timeout_at)
        response = cast(SaslHandshakeResponse, answer)
        if response.error_code != ErrorCode.NONE:
            known = ", ".join(response.mechanisms) or "none"
            raise LoginRefused(f"{mechanism} is no way to log in there, which are: {known}")

    async def send(self, token: bytes) -> bytes:
        request = SaslAuthenticateRequest(auth_bytes=token)
        answer = await self._connection.ask(request, AUTHENTICATE_VERSION, self._timeout_at)
        response = cast(SaslAuthenticateResponse, answer)
        if response.error_code != ErrorCode.NONE:
            raise LoginRefused(response.error_message or f"error {response.error_code}")
        self.session_ms = response.session_lifetime_ms
        return bytes(response.auth_bytes)
