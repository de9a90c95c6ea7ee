"""RegisterControllerRecord (number 27). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ControllerEndpoint(Entity):
    __slots__ = (
        "host",
        "name",
        "port",
        "security_protocol",
    )
    NAME = "ControllerEndpoint"
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


class ControllerFeature(Entity):
    __slots__ = (
        "max_supported_version",
        "min_supported_version",
        "name",
    )
    NAME = "ControllerFeature"
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


class RegisterControllerRecord(Entity):
    __slots__ = (
        "controller_id",
        "end_points",
        "features",
        "incarnation_id",
        "zk_migration_ready",
    )
    NAME = "RegisterControllerRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 27
    SCHEMA = (
        Field("controller_id", "int32", (0, 0)),
        Field("incarnation_id", "uuid", (0, 0)),
        Field("zk_migration_ready", "bool", (0, 0)),
        Field("end_points", ControllerEndpoint, (0, 0), array=True),
        Field("features", ControllerFeature, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_ID,
        zk_migration_ready: bool = False,
        end_points: Iterable[ControllerEndpoint] = (),
        features: Iterable[ControllerFeature] = (),
    ) -> None:
        self.controller_id: int = controller_id
        self.incarnation_id: bytes = incarnation_id
        self.zk_migration_ready: bool = zk_migration_ready
        self.end_points: list[ControllerEndpoint] = (
            end_points if isinstance(end_points, list) else list(end_points)
        )
        self.features: list[ControllerFeature] = (
            features if isinstance(features, list) else list(features)
        )
