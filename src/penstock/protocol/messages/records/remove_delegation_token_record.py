"""RemoveDelegationTokenRecord (number 26). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class RemoveDelegationTokenRecord(Entity):
    __slots__ = ("token_id",)
    NAME = "RemoveDelegationTokenRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 26
    SCHEMA = (Field("token_id", "string", (0, 0)),)

    def __init__(
        self,
        *,
        token_id: str = "",
    ) -> None:
        self.token_id: str = token_id
