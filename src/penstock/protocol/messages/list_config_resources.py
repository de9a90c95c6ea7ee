"""ListConfigResources (number 74). Written by tools/generate_protocol.py.

ListConfigResourcesRequest 0-1, ListConfigResourcesResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ListConfigResourcesRequest(Entity):
    __slots__ = ("resource_types",)
    NAME = "ListConfigResourcesRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 74
    SCHEMA = (Field("resource_types", "int8", (1, 1), array=True),)

    def __init__(
        self,
        *,
        resource_types: Iterable[int] = (),
    ) -> None:
        self.resource_types: list[int] = (
            resource_types if isinstance(resource_types, list) else list(resource_types)
        )


class ConfigResource(Entity):
    __slots__ = (
        "resource_name",
        "resource_type",
    )
    NAME = "ConfigResource"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("resource_name", "string", (0, 1)),
        Field("resource_type", "int8", (1, 1), ignorable=True, default=16),
    )

    def __init__(
        self,
        *,
        resource_name: str = "",
        resource_type: int = 16,
    ) -> None:
        self.resource_name: str = resource_name
        self.resource_type: int = resource_type


class ListConfigResourcesResponse(Entity):
    __slots__ = (
        "config_resources",
        "error_code",
        "throttle_time_ms",
    )
    NAME = "ListConfigResourcesResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 74
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("config_resources", ConfigResource, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: Iterable[ConfigResource] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.config_resources: list[ConfigResource] = (
            config_resources if isinstance(config_resources, list) else list(config_resources)
        )
