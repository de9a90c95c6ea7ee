"""IncrementalAlterConfigs (number 44). Written by tools/generate_protocol.py.

IncrementalAlterConfigsRequest 0-1, IncrementalAlterConfigsResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class AlterableConfig(Entity):
    __slots__ = (
        "config_operation",
        "name",
        "value",
    )
    NAME = "AlterableConfig"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("name", "string", (0, 1)),
        Field("config_operation", "int8", (0, 1)),
        Field("value", "string", (0, 1), nullable=(0, 1)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        config_operation: int = 0,
        value: str | None = "",
    ) -> None:
        self.name: str = name
        self.config_operation: int = config_operation
        self.value: str | None = value


class AlterConfigsResource(Entity):
    __slots__ = (
        "configs",
        "resource_name",
        "resource_type",
    )
    NAME = "AlterConfigsResource"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("resource_type", "int8", (0, 1)),
        Field("resource_name", "string", (0, 1)),
        Field("configs", AlterableConfig, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configs: Iterable[AlterableConfig] = (),
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configs: list[AlterableConfig] = (
            configs if isinstance(configs, list) else list(configs)
        )


class IncrementalAlterConfigsRequest(Entity):
    __slots__ = (
        "resources",
        "validate_only",
    )
    NAME = "IncrementalAlterConfigsRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 44
    SCHEMA = (
        Field("resources", AlterConfigsResource, (0, 1), array=True),
        Field("validate_only", "bool", (0, 1)),
    )

    def __init__(
        self,
        *,
        resources: Iterable[AlterConfigsResource] = (),
        validate_only: bool = False,
    ) -> None:
        self.resources: list[AlterConfigsResource] = (
            resources if isinstance(resources, list) else list(resources)
        )
        self.validate_only: bool = validate_only


class AlterConfigsResourceResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_name",
        "resource_type",
    )
    NAME = "AlterConfigsResourceResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1)),
        Field("resource_type", "int8", (0, 1)),
        Field("resource_name", "string", (0, 1)),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name


class IncrementalAlterConfigsResponse(Entity):
    __slots__ = (
        "responses",
        "throttle_time_ms",
    )
    NAME = "IncrementalAlterConfigsResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 44
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1)),
        Field("responses", AlterConfigsResourceResponse, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: Iterable[AlterConfigsResourceResponse] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.responses: list[AlterConfigsResourceResponse] = (
            responses if isinstance(responses, list) else list(responses)
        )
