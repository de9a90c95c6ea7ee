"""SnapshotFooterRecord. Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class SnapshotFooterRecord(Entity):
    __slots__ = ("version",)
    NAME = "SnapshotFooterRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (Field("version", "int16", (0, 0)),)

    def __init__(
        self,
        *,
        version: int = 0,
    ) -> None:
        self.version: int = version
