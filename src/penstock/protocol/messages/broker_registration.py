"""BrokerRegistration (number 62). Written by tools/generate_protocol.py.

BrokerRegistrationRequest 0-4, BrokerRegistrationResponse 0-4.
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


class Feature(Entity):
    __slots__ = (
        "max_supported_version",
        "min_supported_version",
        "name",
    )
    NAME = "Feature"
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


class BrokerRegistrationRequest(Entity):
    __slots__ = (
        "broker_id",
        "cluster_id",
        "features",
        "incarnation_id",
        "is_migrating_zk_broker",
        "listeners",
        "log_dirs",
        "previous_broker_epoch",
        "rack",
    )
    NAME = "BrokerRegistrationRequest"
    VERSIONS = (0, 4)
    FLEXIBLE = 0
    API_KEY = 62
    SCHEMA = (
        Field("broker_id", "int32", (0, 4)),
        Field("cluster_id", "string", (0, 4)),
        Field("incarnation_id", "uuid", (0, 4)),
        Field("listeners", Listener, (0, 4), array=True),
        Field("features", Feature, (0, 4), array=True),
        Field("rack", "string", (0, 4), nullable=(0, 4)),
        Field("is_migrating_zk_broker", "bool", (1, 4)),
        Field("log_dirs", "uuid", (2, 4), array=True, ignorable=True),
        Field("previous_broker_epoch", "int64", (3, 4), ignorable=True, default=-1),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: bytes = ZERO_ID,
        listeners: Iterable[Listener] = (),
        features: Iterable[Feature] = (),
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: Iterable[bytes] = (),
        previous_broker_epoch: int = -1,
    ) -> None:
        self.broker_id: int = broker_id
        self.cluster_id: str = cluster_id
        self.incarnation_id: bytes = incarnation_id
        self.listeners: list[Listener] = (
            listeners if isinstance(listeners, list) else list(listeners)
        )
        self.features: list[Feature] = features if isinstance(features, list) else list(features)
        self.rack: str | None = rack
        self.is_migrating_zk_broker: bool = is_migrating_zk_broker
        self.log_dirs: list[bytes] = log_dirs if isinstance(log_dirs, list) else list(log_dirs)
        self.previous_broker_epoch: int = previous_broker_epoch


class BrokerRegistrationResponse(Entity):
    __slots__ = (
        "broker_epoch",
        "error_code",
        "throttle_time_ms",
    )
    NAME = "BrokerRegistrationResponse"
    VERSIONS = (0, 4)
    FLEXIBLE = 0
    API_KEY = 62
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 4)),
        Field("error_code", "int16", (0, 4)),
        Field("broker_epoch", "int64", (0, 4), default=-1),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.broker_epoch: int = broker_epoch
