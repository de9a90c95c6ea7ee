"""ZkMigrationStateRecord (number 21). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class ZkMigrationStateRecord(Entity):
    __slots__ = ("zk_migration_state",)
    NAME = "ZkMigrationStateRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 21
    SCHEMA = (Field("zk_migration_state", "int8", (0, 0)),)

    def __init__(
        self,
        *,
        zk_migration_state: int = 0,
    ) -> None:
        self.zk_migration_state: int = zk_migration_state
