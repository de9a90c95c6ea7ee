"""DeleteAcls (number 31). Written by tools/generate_protocol.py.

DeleteAclsRequest 1-3, DeleteAclsResponse 1-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DeleteAclsFilter(Entity):
    __slots__ = (
        "host_filter",
        "operation",
        "pattern_type_filter",
        "permission_type",
        "principal_filter",
        "resource_name_filter",
        "resource_type_filter",
    )
    NAME = "DeleteAclsFilter"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("resource_type_filter", "int8", (1, 3)),
        Field("resource_name_filter", "string", (1, 3), nullable=(1, 3)),
        Field("pattern_type_filter", "int8", (1, 3), default=3),
        Field("principal_filter", "string", (1, 3), nullable=(1, 3)),
        Field("host_filter", "string", (1, 3), nullable=(1, 3)),
        Field("operation", "int8", (1, 3)),
        Field("permission_type", "int8", (1, 3)),
    )

    def __init__(
        self,
        *,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter: int = resource_type_filter
        self.resource_name_filter: str | None = resource_name_filter
        self.pattern_type_filter: int = pattern_type_filter
        self.principal_filter: str | None = principal_filter
        self.host_filter: str | None = host_filter
        self.operation: int = operation
        self.permission_type: int = permission_type


class DeleteAclsRequest(Entity):
    __slots__ = ("filters",)
    NAME = "DeleteAclsRequest"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 31
    SCHEMA = (Field("filters", DeleteAclsFilter, (1, 3), array=True),)

    def __init__(
        self,
        *,
        filters: Iterable[DeleteAclsFilter] = (),
    ) -> None:
        self.filters: list[DeleteAclsFilter] = (
            filters if isinstance(filters, list) else list(filters)
        )


class DeleteAclsMatchingAcl(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "host",
        "operation",
        "pattern_type",
        "permission_type",
        "principal",
        "resource_name",
        "resource_type",
    )
    NAME = "DeleteAclsMatchingAcl"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("error_code", "int16", (1, 3)),
        Field("error_message", "string", (1, 3), nullable=(1, 3)),
        Field("resource_type", "int8", (1, 3)),
        Field("resource_name", "string", (1, 3)),
        Field("pattern_type", "int8", (1, 3), default=3),
        Field("principal", "string", (1, 3)),
        Field("host", "string", (1, 3)),
        Field("operation", "int8", (1, 3)),
        Field("permission_type", "int8", (1, 3)),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.pattern_type: int = pattern_type
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type


class DeleteAclsFilterResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "matching_acls",
    )
    NAME = "DeleteAclsFilterResult"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("error_code", "int16", (1, 3)),
        Field("error_message", "string", (1, 3), nullable=(1, 3)),
        Field("matching_acls", DeleteAclsMatchingAcl, (1, 3), array=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: Iterable[DeleteAclsMatchingAcl] = (),
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.matching_acls: list[DeleteAclsMatchingAcl] = (
            matching_acls if isinstance(matching_acls, list) else list(matching_acls)
        )


class DeleteAclsResponse(Entity):
    __slots__ = (
        "filter_results",
        "throttle_time_ms",
    )
    NAME = "DeleteAclsResponse"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 31
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 3)),
        Field("filter_results", DeleteAclsFilterResult, (1, 3), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        filter_results: Iterable[DeleteAclsFilterResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.filter_results: list[DeleteAclsFilterResult] = (
            filter_results if isinstance(filter_results, list) else list(filter_results)
        )
