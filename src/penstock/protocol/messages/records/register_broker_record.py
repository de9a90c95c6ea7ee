"""RegisterBrokerRecord (number 0). Written by tools/generate_protocol.py.

Versions 0-4.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class BrokerEndpoint(Entity):
    __slots__ = (
        "host",
        "name",
        "port",
        "security_protocol",
    )
    NAME = "BrokerEndpoint"
    VERSIONS = (0, 4)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 4)),
        Field("host", "string", (0, 4)),
        Field("port", "uint16", (0, 4)),
        Field("security_protocol", "int16", (0, 4)),
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


class BrokerFeature(Entity):
    __slots__ = (
        "max_supported_version",
        "min_supported_version",
        "name",
    )
    NAME = "BrokerFeature"
    VERSIONS = (0, 4)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 4)),
        Field("min_supported_version", "int16", (0, 4)),
        Field("max_supported_version", "int16", (0, 4)),
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


class RegisterBrokerRecord(Entity):
    __slots__ = (
        "broker_epoch",
        "broker_id",
        "cordoned_log_dirs",
        "end_points",
        "features",
        "fenced",
        "in_controlled_shutdown",
        "incarnation_id",
        "is_migrating_zk_broker",
        "log_dirs",
        "rack",
    )
    NAME = "RegisterBrokerRecord"
    VERSIONS = (0, 4)
    FLEXIBLE = 0
    API_KEY = 0
    SCHEMA = (
        Field("broker_id", "int32", (0, 4)),
        Field("is_migrating_zk_broker", "bool", (2, 4)),
        Field("incarnation_id", "uuid", (0, 4)),
        Field("broker_epoch", "int64", (0, 4)),
        Field("end_points", BrokerEndpoint, (0, 4), array=True),
        Field("features", BrokerFeature, (0, 4), array=True),
        Field("rack", "string", (0, 4), nullable=(0, 4)),
        Field("fenced", "bool", (0, 4), default=True),
        Field("in_controlled_shutdown", "bool", (1, 4)),
        Field("log_dirs", "uuid", (3, 4), array=True, tag=0, tagged=(3, 4)),
        Field(
            "cordoned_log_dirs",
            "uuid",
            (4, 4),
            array=True,
            nullable=(4, 4),
            tag=1,
            tagged=(4, 4),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: bytes = ZERO_ID,
        broker_epoch: int = 0,
        end_points: Iterable[BrokerEndpoint] = (),
        features: Iterable[BrokerFeature] = (),
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: Iterable[bytes] = (),
        cordoned_log_dirs: Iterable[bytes] | None = None,
    ) -> None:
        self.broker_id: int = broker_id
        self.is_migrating_zk_broker: bool = is_migrating_zk_broker
        self.incarnation_id: bytes = incarnation_id
        self.broker_epoch: int = broker_epoch
        self.end_points: list[BrokerEndpoint] = (
            end_points if isinstance(end_points, list) else list(end_points)
        )
        self.features: list[BrokerFeature] = (
            features if isinstance(features, list) else list(features)
        )
        self.rack: str | None = rack
        self.fenced: bool = fenced
        self.in_controlled_shutdown: bool = in_controlled_shutdown
        self.log_dirs: list[bytes] = log_dirs if isinstance(log_dirs, list) else list(log_dirs)
        self.cordoned_log_dirs: list[bytes] | None = (
            cordoned_log_dirs
            if cordoned_log_dirs is None or isinstance(cordoned_log_dirs, list)
            else list(cordoned_log_dirs)
        )
