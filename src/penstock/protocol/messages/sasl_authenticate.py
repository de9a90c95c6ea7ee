"""SaslAuthenticate (number 36). Written by tools/generate_protocol.py.

SaslAuthenticateRequest 0-2, SaslAuthenticateResponse 0-2.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class SaslAuthenticateRequest(Entity):
    __slots__ = ("auth_bytes",)
    NAME = "SaslAuthenticateRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    API_KEY = 36
    SCHEMA = (Field("auth_bytes", "bytes", (0, 2)),)

    def __init__(
        self,
        *,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes: bytes = auth_bytes


class SaslAuthenticateResponse(Entity):
    __slots__ = (
        "auth_bytes",
        "error_code",
        "error_message",
        "session_lifetime_ms",
    )
    NAME = "SaslAuthenticateResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    API_KEY = 36
    SCHEMA = (
        Field("error_code", "int16", (0, 2)),
        Field("error_message", "string", (0, 2), nullable=(0, 2)),
        Field("auth_bytes", "bytes", (0, 2)),
        Field("session_lifetime_ms", "int64", (1, 2), ignorable=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.auth_bytes: bytes = auth_bytes
        self.session_lifetime_ms: int = session_lifetime_ms
