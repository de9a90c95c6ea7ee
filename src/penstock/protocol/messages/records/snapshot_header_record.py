"""SnapshotHeaderRecord. Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class SnapshotHeaderRecord(Entity):
    __slots__ = (
        "last_contained_log_timestamp",
        "version",
    )
    NAME = "SnapshotHeaderRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("version", "int16", (0, 0)),
        Field("last_contained_log_timestamp", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
    ) -> None:
        self.version: int = version
        self.last_contained_log_timestamp: int = last_contained_log_timestamp
