"""SaslHandshake (number 17). Written by tools/generate_protocol.py.

SaslHandshakeRequest 0-1, SaslHandshakeResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class SaslHandshakeRequest(Entity):
    __slots__ = ("mechanism",)
    NAME = "SaslHandshakeRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = None
    API_KEY = 17
    SCHEMA = (Field("mechanism", "string", (0, 1)),)

    def __init__(
        self,
        *,
        mechanism: str = "",
    ) -> None:
        self.mechanism: str = mechanism


class SaslHandshakeResponse(Entity):
    __slots__ = (
        "error_code",
        "mechanisms",
    )
    NAME = "SaslHandshakeResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = None
    API_KEY = 17
    SCHEMA = (
        Field("error_code", "int16", (0, 1)),
        Field("mechanisms", "string", (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        mechanisms: Iterable[str] = (),
    ) -> None:
        self.error_code: int = error_code
        self.mechanisms: list[str] = (
            mechanisms if isinstance(mechanisms, list) else list(mechanisms)
        )
