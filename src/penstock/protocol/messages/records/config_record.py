"""ConfigRecord (number 4). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class ConfigRecord(Entity):
    __slots__ = (
        "name",
        "resource_name",
        "resource_type",
        "value",
    )
    NAME = "ConfigRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 4
    SCHEMA = (
        Field("resource_type", "int8", (0, 0)),
        Field("resource_name", "string", (0, 0)),
        Field("name", "string", (0, 0)),
        Field("value", "string", (0, 0), nullable=(0, 0)),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.name: str = name
        self.value: str | None = value
