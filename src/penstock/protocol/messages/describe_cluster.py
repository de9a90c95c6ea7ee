"""DescribeCluster (number 60). Written by tools/generate_protocol.py.

DescribeClusterRequest 0-2, DescribeClusterResponse 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DescribeClusterRequest(Entity):
    __slots__ = (
        "endpoint_type",
        "include_cluster_authorized_operations",
        "include_fenced_brokers",
    )
    NAME = "DescribeClusterRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 60
    SCHEMA = (
        Field("include_cluster_authorized_operations", "bool", (0, 2)),
        Field("endpoint_type", "int8", (1, 2), default=1),
        Field("include_fenced_brokers", "bool", (2, 2)),
    )

    def __init__(
        self,
        *,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
    ) -> None:
        self.include_cluster_authorized_operations: bool = include_cluster_authorized_operations
        self.endpoint_type: int = endpoint_type
        self.include_fenced_brokers: bool = include_fenced_brokers


class DescribeClusterBroker(Entity):
    __slots__ = (
        "broker_id",
        "host",
        "is_fenced",
        "port",
        "rack",
    )
    NAME = "DescribeClusterBroker"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("broker_id", "int32", (0, 2)),
        Field("host", "string", (0, 2)),
        Field("port", "int32", (0, 2)),
        Field("rack", "string", (0, 2), nullable=(0, 2), default=None),
        Field("is_fenced", "bool", (2, 2)),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
    ) -> None:
        self.broker_id: int = broker_id
        self.host: str = host
        self.port: int = port
        self.rack: str | None = rack
        self.is_fenced: bool = is_fenced


class DescribeClusterResponse(Entity):
    __slots__ = (
        "brokers",
        "cluster_authorized_operations",
        "cluster_id",
        "controller_id",
        "endpoint_type",
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    NAME = "DescribeClusterResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 60
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 2)),
        Field("error_code", "int16", (0, 2)),
        Field("error_message", "string", (0, 2), nullable=(0, 2), default=None),
        Field("endpoint_type", "int8", (1, 2), default=1),
        Field("cluster_id", "string", (0, 2)),
        Field("controller_id", "int32", (0, 2), default=-1),
        Field("brokers", DescribeClusterBroker, (0, 2), array=True),
        Field("cluster_authorized_operations", "int32", (0, 2), default=-2147483648),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: Iterable[DescribeClusterBroker] = (),
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.endpoint_type: int = endpoint_type
        self.cluster_id: str = cluster_id
        self.controller_id: int = controller_id
        self.brokers: list[DescribeClusterBroker] = (
            brokers if isinstance(brokers, list) else list(brokers)
        )
        self.cluster_authorized_operations: int = cluster_authorized_operations
