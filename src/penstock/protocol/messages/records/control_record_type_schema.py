"""ControlRecordTypeSchema. Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class ControlRecordTypeSchema(Entity):
    __slots__ = ("type",)
    NAME = "ControlRecordTypeSchema"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    SCHEMA = (Field("type", "int16", (0, 0)),)

    def __init__(
        self,
        *,
        type: int = 0,
    ) -> None:
        self.type: int = type
