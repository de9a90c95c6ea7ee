"""One login on one connection, from the handshake to the identity: Kafka's SaslServerAuthenticator.

A pure machine: frames in, frames out. Owns the order of requests, and Kafka's words for what is
refused. ApiVersions is answered by others; here it is said when. What a mechanism does with its
tokens is the mechanism's; closing the connection, and when, the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import cache
from typing import NamedTuple, TypeVar, cast

from penstock.model.error import ErrorCode, ProtocolError
from penstock.protocol.api import API_VERSIONS_KEY
from penstock.protocol.codec import request_decoder
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, decode_request_header, encode_response
from penstock.protocol.messages.api_versions import ApiVersionsResponse
from penstock.protocol.messages.header import RequestHeader
from penstock.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from penstock.security.config import SaslConfig
from penstock.security.mechanism import Identity, MechanismServer
from penstock.security.sasl_error import IllegalSaslState, SaslError, SaslRefused

HANDSHAKE_KEY = 17
AUTHENTICATE_KEY = 36
REAUTHENTICATES_FROM = 1
"""The version of SaslAuthenticate that is told how long a session lasts."""
_ELEMENTS_MAX = 100

T = TypeVar("T", bound=Entity)


class State(Enum):
    HANDSHAKE_OR_VERSIONS = auto()
    HANDSHAKE = auto()
    """Versions were told: only a handshake may follow."""
    AUTHENTICATE = auto()
    """In requests of Kafka's, after a handshake of version 1."""
    RAW_TOKENS = auto()
    """Without a header, after a handshake of version 0."""
    REAUTH_BAD_MECHANISM = auto()
    """As Kafka does it: the handshake is answered, and what comes next ends the connection."""
    COMPLETE = auto()
    FAILED = auto()


class Session(NamedTuple):
    """A login that succeeded."""

    identity: Identity
    mechanism: str
    expires_at_ms: int | None
    """When it has to be done again; None for never."""
    reauthenticates: bool
    """Whether this client knows how to."""


class LoginFailed(SaslError):
    """The connection ends, after `answer` if there is one."""

    def __init__(self, reason: str, answer: bytes | None = None) -> None:
        super().__init__(reason)
        self.answer = answer


class SaslAuthenticator:
    """`previous` is the session of somebody who logs in again, as the same and in the same way."""

    def __init__(
        self,
        config: SaslConfig,
        new_server: Callable[[str], MechanismServer],
        now_ms: Callable[[], int],
        previous: Session | None = None,
    ) -> None:
        self._config = config
        self._new_server = new_server
        self._now_ms = now_ms
        self._previous = previous
        self.mechanism = ""
        self._server: MechanismServer | None = None
        self._reauthenticates = False
        self.state = State.HANDSHAKE_OR_VERSIONS if previous is None else State.HANDSHAKE
        self.session: Session | None = None
        self._lifetime_ms = 0

    @property
    def may_tell_versions(self) -> bool:
        """Else ApiVersions is received like any other frame: it may be a token that looks so."""
        return self.state in (State.HANDSHAKE_OR_VERSIONS, State.HANDSHAKE)

    def begin_versions(self) -> None:
        """ProtocolError where ApiVersions is not to be answered."""
        if self.state is not State.HANDSHAKE_OR_VERSIONS:
            raise ProtocolError(
                "Unexpected ApiVersions request received during SASL authentication state "
                f"{self.state.name}"
            )

    def end_versions(self) -> None:
        """They were told, without an error."""
        self.state = State.HANDSHAKE

    def receive(self, frame: bytes) -> bytes:
        """The answer. LoginFailed, or ProtocolError for what deserves none."""
        try:
            if self.state is State.RAW_TOKENS:
                return self._take_raw(frame)
            if self.state is State.REAUTH_BAD_MECHANISM and self._previous is not None:
                raise LoginFailed(
                    f"SASL mechanism '{self.mechanism}' requested by client is not supported for "
                    f"re-authentication of mechanism '{self._previous.mechanism}'"
                )
            header, pos = decode_request_header(frame)
            if self.state is State.AUTHENTICATE:
                return self._take_token(header, frame, pos)
            return self._take_handshake(header, frame, pos)
        except (LoginFailed, ProtocolError):
            self.state = State.FAILED
            raise

    # Handshake

    def _take_handshake(self, header: RequestHeader, frame: bytes, pos: int) -> bytes:
        if header.request_api_key != HANDSHAKE_KEY:
            raise ProtocolError(
                f"Unexpected Kafka request of type {_name(header)} during SASL handshake."
            )
        version = header.request_api_version
        mechanism = _decode(SaslHandshakeRequest, version)(frame, pos)[0].mechanism
        known = list(self._config.mechanisms)
        if mechanism not in known:
            code = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            refusal = SaslHandshakeResponse(error_code=code, mechanisms=known)
            raise LoginFailed(
                f"Unsupported SASL mechanism {mechanism[:64]}", _answer(header, refusal)
            )
        self.mechanism = mechanism
        if self._previous is not None and self._previous.mechanism != mechanism:
            self.state = State.REAUTH_BAD_MECHANISM
        else:
            self._server = self._new_server(mechanism)
            self.state = State.AUTHENTICATE if version > 0 else State.RAW_TOKENS
        return _answer(header, SaslHandshakeResponse(mechanisms=known))

    # Tokens

    def _take_token(self, header: RequestHeader, frame: bytes, pos: int) -> bytes:
        if header.request_api_key != AUTHENTICATE_KEY:
            raise LoginFailed(
                f"Unexpected Kafka request of type {_name(header)} during SASL authentication.",
                _illegal_state(header),
            )
        version = header.request_api_version
        self._reauthenticates |= version >= REAUTHENTICATES_FROM
        token = _decode(SaslAuthenticateRequest, version)(frame, pos)[0].auth_bytes
        try:
            challenge = self._evaluate(bytes(token))
        except SaslError as error:
            raise self._refusal(header, error) from error
        response = SaslAuthenticateResponse(
            auth_bytes=challenge, session_lifetime_ms=self._lifetime_ms
        )
        return _answer(header, response)

    def _take_raw(self, frame: bytes) -> bytes:
        try:
            challenge = self._evaluate(frame)
        except SaslError as error:
            raise LoginFailed(str(error)) from error
        return len(challenge).to_bytes(4, "big") + challenge

    def _evaluate(self, token: bytes) -> bytes:
        assert self._server is not None
        challenge = self._server.evaluate(token)
        identity = self._server.identity
        if identity is not None:
            self._check_unchanged(identity)
            now_ms = self._now_ms()
            expires_at_ms = self._expires_at_ms(identity, now_ms)
            self._lifetime_ms = 0 if expires_at_ms is None else expires_at_ms - now_ms
            self.session = Session(identity, self.mechanism, expires_at_ms, self._reauthenticates)
            self.state = State.COMPLETE
        return challenge

    def _check_unchanged(self, identity: Identity) -> None:
        if self._previous is not None and identity.name != self._previous.identity.name:
            raise SaslRefused(
                "Cannot change principals during re-authentication from "
                f"User.{self._previous.identity.name}: User.{identity.name}"
            )

    def _expires_at_ms(self, identity: Identity, now_ms: int) -> int | None:
        asked_ms = self._config.reauth_ms.get(self.mechanism, 0)
        ends = [] if identity.expires_at_ms is None else [max(identity.expires_at_ms, now_ms)]
        if asked_ms > 0:
            ends.append(now_ms + asked_ms)
        return min(ends, default=None)

    def _refusal(self, header: RequestHeader, error: SaslError) -> LoginFailed:
        """A user that there is not, and a password that is wrong, are told in the same words."""
        if isinstance(error, SaslRefused):
            code, words = ErrorCode.SASL_AUTHENTICATION_FAILED, str(error)
        elif isinstance(error, IllegalSaslState):
            code, words = ErrorCode.ILLEGAL_SASL_STATE, str(error)
        else:
            kind = "authentication" if self._previous is None else "re-authentication"
            code = ErrorCode.SASL_AUTHENTICATION_FAILED
            words = (
                f"Authentication failed during {kind} due to invalid credentials with SASL "
                f"mechanism {self.mechanism}"
            )
        refusal = SaslAuthenticateResponse(error_code=code, error_message=words)
        return LoginFailed(str(error), _answer(header, refusal))


@cache
def _decode(cls: type[T], version: int) -> Callable[[bytes, int], tuple[T, int]]:
    return request_decoder(cls, version, _ELEMENTS_MAX)


def _illegal_state(header: RequestHeader) -> bytes | None:
    """To those that clients mistakenly send here. Of all others, which Kafka answers as well, the
    body is not looked at before somebody has logged in."""
    code = ErrorCode.ILLEGAL_SASL_STATE
    if header.request_api_key == HANDSHAKE_KEY:
        return _answer(header, SaslHandshakeResponse(error_code=code))
    if header.request_api_key == API_VERSIONS_KEY:
        return _answer(header, ApiVersionsResponse(error_code=code))
    return None


def _answer(header: RequestHeader, response: Entity) -> bytes:
    parts = encode_response(
        header.correlation_id, header.request_api_key, header.request_api_version, response
    )
    return b"".join(cast(list[bytes], parts))


def _name(header: RequestHeader) -> str:
    return API_BY_KEY[header.request_api_key].name
