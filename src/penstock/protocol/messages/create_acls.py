"""CreateAcls (number 30). Written by tools/generate_protocol.py.

CreateAclsRequest 1-3, CreateAclsResponse 1-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class AclCreation(Entity):
    __slots__ = (
        "host",
        "operation",
        "permission_type",
        "principal",
        "resource_name",
        "resource_pattern_type",
        "resource_type",
    )
    NAME = "AclCreation"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("resource_type", "int8", (1, 3)),
        Field("resource_name", "string", (1, 3)),
        Field("resource_pattern_type", "int8", (1, 3), default=3),
        Field("principal", "string", (1, 3)),
        Field("host", "string", (1, 3)),
        Field("operation", "int8", (1, 3)),
        Field("permission_type", "int8", (1, 3)),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.resource_pattern_type: int = resource_pattern_type
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type


class CreateAclsRequest(Entity):
    __slots__ = ("creations",)
    NAME = "CreateAclsRequest"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 30
    SCHEMA = (Field("creations", AclCreation, (1, 3), array=True),)

    def __init__(
        self,
        *,
        creations: Iterable[AclCreation] = (),
    ) -> None:
        self.creations: list[AclCreation] = (
            creations if isinstance(creations, list) else list(creations)
        )


class AclCreationResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
    )
    NAME = "AclCreationResult"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("error_code", "int16", (1, 3)),
        Field("error_message", "string", (1, 3), nullable=(1, 3)),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class CreateAclsResponse(Entity):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    NAME = "CreateAclsResponse"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 30
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 3)),
        Field("results", AclCreationResult, (1, 3), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Iterable[AclCreationResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[AclCreationResult] = (
            results if isinstance(results, list) else list(results)
        )
