"""RemoveUserScramCredentialRecord (number 22). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class RemoveUserScramCredentialRecord(Entity):
    __slots__ = (
        "mechanism",
        "name",
    )
    NAME = "RemoveUserScramCredentialRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 22
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("mechanism", "int8", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism
