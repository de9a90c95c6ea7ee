"""DescribeAcls (number 29). Written by tools/generate_protocol.py.

DescribeAclsRequest 1-3, DescribeAclsResponse 1-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DescribeAclsRequest(Entity):
    __slots__ = (
        "host_filter",
        "operation",
        "pattern_type_filter",
        "permission_type",
        "principal_filter",
        "resource_name_filter",
        "resource_type_filter",
    )
    NAME = "DescribeAclsRequest"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 29
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


class AclDescription(Entity):
    __slots__ = (
        "host",
        "operation",
        "permission_type",
        "principal",
    )
    NAME = "AclDescription"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("principal", "string", (1, 3)),
        Field("host", "string", (1, 3)),
        Field("operation", "int8", (1, 3)),
        Field("permission_type", "int8", (1, 3)),
    )

    def __init__(
        self,
        *,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type


class DescribeAclsResource(Entity):
    __slots__ = (
        "acls",
        "pattern_type",
        "resource_name",
        "resource_type",
    )
    NAME = "DescribeAclsResource"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("resource_type", "int8", (1, 3)),
        Field("resource_name", "string", (1, 3)),
        Field("pattern_type", "int8", (1, 3), default=3),
        Field("acls", AclDescription, (1, 3), array=True),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: Iterable[AclDescription] = (),
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.pattern_type: int = pattern_type
        self.acls: list[AclDescription] = acls if isinstance(acls, list) else list(acls)


class DescribeAclsResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "resources",
        "throttle_time_ms",
    )
    NAME = "DescribeAclsResponse"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 29
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 3)),
        Field("error_code", "int16", (1, 3)),
        Field("error_message", "string", (1, 3), nullable=(1, 3)),
        Field("resources", DescribeAclsResource, (1, 3), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: Iterable[DescribeAclsResource] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resources: list[DescribeAclsResource] = (
            resources if isinstance(resources, list) else list(resources)
        )
