"""ControllerRegistration (number 70). Written by tools/generate_protocol.py.

ControllerRegistrationRequest 0-0, ControllerRegistrationResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class Listener(Entity):
    __slots__ = (
        "host",
        "name",
        "port",
        "security_protocol",
    )
    NAME = "Listener"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("host", "string", (0, 0)),
        Field("port", "uint16", (0, 0)),
        Field("security_protocol", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port
        self.security_protocol: int = security_protocol


class Feature(Entity):
    __slots__ = (
        "max_supported_version",
        "min_supported_version",
        "name",
    )
    NAME = "Feature"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("min_supported_version", "int16", (0, 0)),
        Field("max_supported_version", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name: str = name
        self.min_supported_version: int = min_supported_version
        self.max_supported_version: int = max_supported_version


class ControllerRegistrationRequest(Entity):
    __slots__ = (
        "controller_id",
        "features",
        "incarnation_id",
        "listeners",
        "zk_migration_ready",
    )
    NAME = "ControllerRegistrationRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 70
    SCHEMA = (
        Field("controller_id", "int32", (0, 0)),
        Field("incarnation_id", "uuid", (0, 0)),
        Field("zk_migration_ready", "bool", (0, 0)),
        Field("listeners", Listener, (0, 0), array=True),
        Field("features", Feature, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_ID,
        zk_migration_ready: bool = False,
        listeners: Iterable[Listener] = (),
        features: Iterable[Feature] = (),
    ) -> None:
        self.controller_id: int = controller_id
        self.incarnation_id: bytes = incarnation_id
        self.zk_migration_ready: bool = zk_migration_ready
        self.listeners: list[Listener] = (
            listeners if isinstance(listeners, list) else list(listeners)
        )
        self.features: list[Feature] = features if isinstance(features, list) else list(features)


class ControllerRegistrationResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    NAME = "ControllerRegistrationResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 70
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
