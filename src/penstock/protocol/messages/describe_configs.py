"""DescribeConfigs (number 32). Written by tools/generate_protocol.py.

DescribeConfigsRequest 1-4, DescribeConfigsResponse 1-4.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DescribeConfigsResource(Entity):
    __slots__ = (
        "configuration_keys",
        "resource_name",
        "resource_type",
    )
    NAME = "DescribeConfigsResource"
    VERSIONS = (1, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("resource_type", "int8", (1, 4)),
        Field("resource_name", "string", (1, 4)),
        Field("configuration_keys", "string", (1, 4), array=True, nullable=(1, 4)),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: Iterable[str] | None = (),
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configuration_keys: list[str] | None = (
            configuration_keys
            if configuration_keys is None or isinstance(configuration_keys, list)
            else list(configuration_keys)
        )


class DescribeConfigsRequest(Entity):
    __slots__ = (
        "include_documentation",
        "include_synonyms",
        "resources",
    )
    NAME = "DescribeConfigsRequest"
    VERSIONS = (1, 4)
    FLEXIBLE = 4
    API_KEY = 32
    SCHEMA = (
        Field("resources", DescribeConfigsResource, (1, 4), array=True),
        Field("include_synonyms", "bool", (1, 4)),
        Field("include_documentation", "bool", (3, 4)),
    )

    def __init__(
        self,
        *,
        resources: Iterable[DescribeConfigsResource] = (),
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources: list[DescribeConfigsResource] = (
            resources if isinstance(resources, list) else list(resources)
        )
        self.include_synonyms: bool = include_synonyms
        self.include_documentation: bool = include_documentation


class DescribeConfigsSynonym(Entity):
    __slots__ = (
        "name",
        "source",
        "value",
    )
    NAME = "DescribeConfigsSynonym"
    VERSIONS = (1, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("name", "string", (1, 4)),
        Field("value", "string", (1, 4), nullable=(1, 4)),
        Field("source", "int8", (1, 4)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        source: int = 0,
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.source: int = source


class DescribeConfigsResourceResult(Entity):
    __slots__ = (
        "config_source",
        "config_type",
        "documentation",
        "is_sensitive",
        "name",
        "read_only",
        "synonyms",
        "value",
    )
    NAME = "DescribeConfigsResourceResult"
    VERSIONS = (1, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("name", "string", (1, 4)),
        Field("value", "string", (1, 4), nullable=(1, 4)),
        Field("read_only", "bool", (1, 4)),
        Field("config_source", "int8", (1, 4), ignorable=True, default=-1),
        Field("is_sensitive", "bool", (1, 4)),
        Field("synonyms", DescribeConfigsSynonym, (1, 4), array=True, ignorable=True),
        Field("config_type", "int8", (3, 4), ignorable=True),
        Field("documentation", "string", (3, 4), nullable=(3, 4), ignorable=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: Iterable[DescribeConfigsSynonym] = (),
        config_type: int = 0,
        documentation: str | None = "",
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.read_only: bool = read_only
        self.config_source: int = config_source
        self.is_sensitive: bool = is_sensitive
        self.synonyms: list[DescribeConfigsSynonym] = (
            synonyms if isinstance(synonyms, list) else list(synonyms)
        )
        self.config_type: int = config_type
        self.documentation: str | None = documentation


class DescribeConfigsResult(Entity):
    __slots__ = (
        "configs",
        "error_code",
        "error_message",
        "resource_name",
        "resource_type",
    )
    NAME = "DescribeConfigsResult"
    VERSIONS = (1, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("error_code", "int16", (1, 4)),
        Field("error_message", "string", (1, 4), nullable=(1, 4)),
        Field("resource_type", "int8", (1, 4)),
        Field("resource_name", "string", (1, 4)),
        Field("configs", DescribeConfigsResourceResult, (1, 4), array=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: Iterable[DescribeConfigsResourceResult] = (),
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configs: list[DescribeConfigsResourceResult] = (
            configs if isinstance(configs, list) else list(configs)
        )


class DescribeConfigsResponse(Entity):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    NAME = "DescribeConfigsResponse"
    VERSIONS = (1, 4)
    FLEXIBLE = 4
    API_KEY = 32
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 4)),
        Field("results", DescribeConfigsResult, (1, 4), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Iterable[DescribeConfigsResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[DescribeConfigsResult] = (
            results if isinstance(results, list) else list(results)
        )
