"""KRaftVersionRecord. Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class KRaftVersionRecord(Entity):
    __slots__ = (
        "kraft_version",
        "version",
    )
    NAME = "KRaftVersionRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("version", "int16", (0, 0)),
        Field("kraft_version", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        version: int = 0,
        kraft_version: int = 0,
    ) -> None:
        self.version: int = version
        self.kraft_version: int = kraft_version
