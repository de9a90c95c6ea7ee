"""DefaultPrincipalData. Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class DefaultPrincipalData(Entity):
    __slots__ = (
        "name",
        "token_authenticated",
        "type",
    )
    NAME = "DefaultPrincipalData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("type", "string", (0, 0)),
        Field("name", "string", (0, 0)),
        Field("token_authenticated", "bool", (0, 0)),
    )

    def __init__(
        self,
        *,
        type: str = "",
        name: str = "",
        token_authenticated: bool = False,
    ) -> None:
        self.type: str = type
        self.name: str = name
        self.token_authenticated: bool = token_authenticated
