"""Where clients have to log in: what stands before the router until they have.

Owns when a connection is let through, when a failed login is answered and closed, and when a
session is over. What is said in a login is `security.authenticator`'s. Listeners without a login
never come here.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Protocol

from penstock.handlers.call import ClientState
from penstock.model.error import ProtocolError
from penstock.model.principal import USER, Principal
from penstock.network.connection import Connection, Serve
from penstock.network.part import Exclusive, Reply, Served
from penstock.protocol.api import API_VERSIONS_KEY
from penstock.security.authenticator import (
    HANDSHAKE_KEY,
    LoginFailed,
    SaslAuthenticator,
    Session,
)
from penstock.security.config import SaslConfig
from penstock.security.mechanism import MechanismServer

REAUTH_INTERVAL_MS_MIN = 1000
"""Nobody logs in again more often than that."""
_NO_ERROR = b"\0\0"
_ERROR_CODE = slice(8, 10)
"""Of an answer to ApiVersions, with its size."""


class LoginSource(Protocol):
    """What logins of one listener are made of."""

    def config(self) -> SaslConfig:
        """As it is now."""
        ...

    def new_server(self, config: SaslConfig, mechanism: str) -> MechanismServer: ...

    def now_ms(self) -> int: ...

    def note_login(self, client: ClientState, mechanism: str) -> None: ...

    def note_failure(self, client: ClientState, mechanism: str, reason: str) -> None: ...


class LoginGate:
    """The `serve` of a listener; `open` is told of each new connection first."""

    def __init__(self, serve: Serve, source: LoginSource, frame_bytes_max: int) -> None:
        self._serve = serve
        self._source = source
        self._frame_bytes_max = frame_bytes_max

    def open(self, connection: Connection) -> None:
        config = self._source.config()
        connection.limit_frames(config.receive_bytes_max)
        connection.state.login = Login(
            connection, config, self._source, self._serve, self._frame_bytes_max
        )

    def serve(self, client: ClientState, frame: memoryview) -> Served:
        login = client.login
        return self._serve(client, frame) if login is None else login(client, frame)


class Login:
    """Of one connection. It stays for as long as a session can end."""

    __slots__ = (
        "_authenticator",
        "_config",
        "_connection",
        "_frame_bytes_max",
        "_reauthenticated_at_ms",
        "_serve",
        "_session",
        "_source",
    )

    def __init__(
        self,
        connection: Connection,
        config: SaslConfig,
        source: LoginSource,
        serve: Serve,
        frame_bytes_max: int,
    ) -> None:
        self._connection = connection
        self._config = config
        self._source = source
        self._serve = serve
        self._frame_bytes_max = frame_bytes_max
        self._session: Session | None = None
        self._reauthenticated_at_ms = 0
        self._authenticator: SaslAuthenticator | None = self._new_authenticator(None)

    def __call__(self, client: ClientState, frame: memoryview) -> Served:
        authenticator = self._authenticator
        if authenticator is None:
            return self._serve_session(client, frame)
        if authenticator.may_tell_versions and _api_key(frame) == API_VERSIONS_KEY:
            return self._tell_versions(authenticator, client, frame)
        try:
            answer = authenticator.receive(bytes(frame))
        except LoginFailed as failure:
            return self._refuse(client, failure)
        if authenticator.session is not None:
            self._succeed(client, authenticator.session)
        return [answer]

    def _tell_versions(
        self, authenticator: SaslAuthenticator, client: ClientState, frame: memoryview
    ) -> Served:
        authenticator.begin_versions()
        answer = self._serve(client, frame)
        assert isinstance(answer, list) and isinstance(answer[0], bytes)
        if answer[0][_ERROR_CODE] == _NO_ERROR:
            authenticator.end_versions()
        return answer

    # How it ends

    def _succeed(self, client: ClientState, session: Session) -> None:
        client.principal = Principal(USER, session.identity.name)
        client.by_token = session.identity.by_token
        self._source.note_login(client, session.mechanism)
        self._connection.limit_frames(self._frame_bytes_max)
        self._authenticator = None
        self._session = session
        if session.expires_at_ms is None:
            client.login = None

    def _refuse(self, client: ClientState, failure: LoginFailed) -> Served:
        """Late, so that guessing takes its time; nothing that comes behind is looked at."""
        assert self._authenticator is not None
        self._source.note_failure(client, self._authenticator.mechanism, str(failure))
        return Exclusive(
            _delayed(failure.answer, self._config.failure_delay_ms / 1000), self._connection.drain
        )

    # Sessions that end

    def _serve_session(self, client: ClientState, frame: memoryview) -> Served:
        session = self._session
        assert session is not None and session.expires_at_ms is not None
        now_ms = self._source.now_ms()
        if _api_key(frame) == HANDSHAKE_KEY and self._may_begin_again(now_ms):
            self._reauthenticated_at_ms = now_ms
            self._config = self._source.config()
            self._authenticator = self._new_authenticator(session)
            return self(client, frame)
        if now_ms >= session.expires_at_ms:
            raise ProtocolError("the session has expired, and the client has not logged in again")
        return self._serve(client, frame)

    def _may_begin_again(self, now_ms: int) -> bool:
        last_ms = self._reauthenticated_at_ms
        return not last_ms or now_ms - last_ms >= REAUTH_INTERVAL_MS_MIN

    def _new_authenticator(self, previous: Session | None) -> SaslAuthenticator:
        config, new_server = self._config, self._source.new_server
        return SaslAuthenticator(config, partial(new_server, config), self._source.now_ms, previous)


async def _delayed(answer: bytes | None, delay_s: float) -> Reply:
    await asyncio.sleep(delay_s)
    return None if answer is None else [answer]


def _api_key(frame: memoryview) -> int:
    return int.from_bytes(frame[:2], "big", signed=True)
