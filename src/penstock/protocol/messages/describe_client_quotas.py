"""DescribeClientQuotas (number 48). Written by tools/generate_protocol.py.

DescribeClientQuotasRequest 0-1, DescribeClientQuotasResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ComponentData(Entity):
    __slots__ = (
        "entity_type",
        "match",
        "match_type",
    )
    NAME = "ComponentData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("entity_type", "string", (0, 1)),
        Field("match_type", "int8", (0, 1)),
        Field("match", "string", (0, 1), nullable=(0, 1)),
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type: str = entity_type
        self.match_type: int = match_type
        self.match: str | None = match


class DescribeClientQuotasRequest(Entity):
    __slots__ = (
        "components",
        "strict",
    )
    NAME = "DescribeClientQuotasRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 48
    SCHEMA = (
        Field("components", ComponentData, (0, 1), array=True),
        Field("strict", "bool", (0, 1)),
    )

    def __init__(
        self,
        *,
        components: Iterable[ComponentData] = (),
        strict: bool = False,
    ) -> None:
        self.components: list[ComponentData] = (
            components if isinstance(components, list) else list(components)
        )
        self.strict: bool = strict


class EntityData(Entity):
    __slots__ = (
        "entity_name",
        "entity_type",
    )
    NAME = "EntityData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("entity_type", "string", (0, 1)),
        Field("entity_name", "string", (0, 1), nullable=(0, 1)),
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type: str = entity_type
        self.entity_name: str | None = entity_name


class ValueData(Entity):
    __slots__ = (
        "key",
        "value",
    )
    NAME = "ValueData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("key", "string", (0, 1)),
        Field("value", "float64", (0, 1)),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key: str = key
        self.value: float = value


class EntryData(Entity):
    __slots__ = (
        "entity",
        "values",
    )
    NAME = "EntryData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("entity", EntityData, (0, 1), array=True),
        Field("values", ValueData, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        entity: Iterable[EntityData] = (),
        values: Iterable[ValueData] = (),
    ) -> None:
        self.entity: list[EntityData] = entity if isinstance(entity, list) else list(entity)
        self.values: list[ValueData] = values if isinstance(values, list) else list(values)


class DescribeClientQuotasResponse(Entity):
    __slots__ = (
        "entries",
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    NAME = "DescribeClientQuotasResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 48
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1)),
        Field("entries", EntryData, (0, 1), array=True, nullable=(0, 1)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: Iterable[EntryData] | None = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.entries: list[EntryData] | None = (
            entries if entries is None or isinstance(entries, list) else list(entries)
        )
