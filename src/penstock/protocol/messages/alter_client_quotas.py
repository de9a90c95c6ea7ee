"""AlterClientQuotas (number 49). Written by tools/generate_protocol.py.

AlterClientQuotasRequest 0-1, AlterClientQuotasResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class RequestEntityData(Entity):
    __slots__ = (
        "entity_name",
        "entity_type",
    )
    NAME = "RequestEntityData"
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


class OpData(Entity):
    __slots__ = (
        "key",
        "remove",
        "value",
    )
    NAME = "OpData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("key", "string", (0, 1)),
        Field("value", "float64", (0, 1)),
        Field("remove", "bool", (0, 1)),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key: str = key
        self.value: float = value
        self.remove: bool = remove


class RequestEntryData(Entity):
    __slots__ = (
        "entity",
        "ops",
    )
    NAME = "RequestEntryData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("entity", RequestEntityData, (0, 1), array=True),
        Field("ops", OpData, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        entity: Iterable[RequestEntityData] = (),
        ops: Iterable[OpData] = (),
    ) -> None:
        self.entity: list[RequestEntityData] = entity if isinstance(entity, list) else list(entity)
        self.ops: list[OpData] = ops if isinstance(ops, list) else list(ops)


class AlterClientQuotasRequest(Entity):
    __slots__ = (
        "entries",
        "validate_only",
    )
    NAME = "AlterClientQuotasRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 49
    SCHEMA = (
        Field("entries", RequestEntryData, (0, 1), array=True),
        Field("validate_only", "bool", (0, 1)),
    )

    def __init__(
        self,
        *,
        entries: Iterable[RequestEntryData] = (),
        validate_only: bool = False,
    ) -> None:
        self.entries: list[RequestEntryData] = (
            entries if isinstance(entries, list) else list(entries)
        )
        self.validate_only: bool = validate_only


class ResponseEntityData(Entity):
    __slots__ = (
        "entity_name",
        "entity_type",
    )
    NAME = "ResponseEntityData"
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


class ResponseEntryData(Entity):
    __slots__ = (
        "entity",
        "error_code",
        "error_message",
    )
    NAME = "ResponseEntryData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1)),
        Field("entity", ResponseEntityData, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        entity: Iterable[ResponseEntityData] = (),
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.entity: list[ResponseEntityData] = entity if isinstance(entity, list) else list(entity)


class AlterClientQuotasResponse(Entity):
    __slots__ = (
        "entries",
        "throttle_time_ms",
    )
    NAME = "AlterClientQuotasResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 49
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1)),
        Field("entries", ResponseEntryData, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        entries: Iterable[ResponseEntryData] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.entries: list[ResponseEntryData] = (
            entries if isinstance(entries, list) else list(entries)
        )
