"""ClientQuotaRecord (number 14). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class EntityData(Entity):
    __slots__ = (
        "entity_name",
        "entity_type",
    )
    NAME = "EntityData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("entity_type", "string", (0, 0)),
        Field("entity_name", "string", (0, 0), nullable=(0, 0)),
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type: str = entity_type
        self.entity_name: str | None = entity_name


class ClientQuotaRecord(Entity):
    __slots__ = (
        "entity",
        "key",
        "remove",
        "value",
    )
    NAME = "ClientQuotaRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 14
    SCHEMA = (
        Field("entity", EntityData, (0, 0), array=True),
        Field("key", "string", (0, 0)),
        Field("value", "float64", (0, 0)),
        Field("remove", "bool", (0, 0)),
    )

    def __init__(
        self,
        *,
        entity: Iterable[EntityData] = (),
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.entity: list[EntityData] = entity if isinstance(entity, list) else list(entity)
        self.key: str = key
        self.value: float = value
        self.remove: bool = remove
