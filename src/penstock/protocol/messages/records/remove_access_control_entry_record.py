"""RemoveAccessControlEntryRecord (number 19). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class RemoveAccessControlEntryRecord(Entity):
    __slots__ = ("id",)
    NAME = "RemoveAccessControlEntryRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 19
    SCHEMA = (Field("id", "uuid", (0, 0)),)

    def __init__(
        self,
        *,
        id: bytes = ZERO_ID,
    ) -> None:
        self.id: bytes = id
