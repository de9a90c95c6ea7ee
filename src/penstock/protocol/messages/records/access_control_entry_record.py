"""AccessControlEntryRecord (number 18). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class AccessControlEntryRecord(Entity):
    __slots__ = (
        "host",
        "id",
        "operation",
        "pattern_type",
        "permission_type",
        "principal",
        "resource_name",
        "resource_type",
    )
    NAME = "AccessControlEntryRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 18
    SCHEMA = (
        Field("id", "uuid", (0, 0)),
        Field("resource_type", "int8", (0, 0)),
        Field("resource_name", "string", (0, 0)),
        Field("pattern_type", "int8", (0, 0)),
        Field("principal", "string", (0, 0)),
        Field("host", "string", (0, 0)),
        Field("operation", "int8", (0, 0)),
        Field("permission_type", "int8", (0, 0)),
    )

    def __init__(
        self,
        *,
        id: bytes = ZERO_ID,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.id: bytes = id
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.pattern_type: int = pattern_type
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type
