"""UserScramCredentialRecord (number 11). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class UserScramCredentialRecord(Entity):
    __slots__ = (
        "iterations",
        "mechanism",
        "name",
        "salt",
        "server_key",
        "stored_key",
    )
    NAME = "UserScramCredentialRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 11
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("mechanism", "int8", (0, 0)),
        Field("salt", "bytes", (0, 0)),
        Field("stored_key", "bytes", (0, 0)),
        Field("server_key", "bytes", (0, 0)),
        Field("iterations", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b"",
        stored_key: bytes = b"",
        server_key: bytes = b"",
        iterations: int = 0,
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism
        self.salt: bytes = salt
        self.stored_key: bytes = stored_key
        self.server_key: bytes = server_key
        self.iterations: int = iterations
