"""Metadata (number 3). Written by tools/generate_protocol.py.

MetadataRequest 0-13, MetadataResponse 0-13.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class MetadataRequestTopic(Entity):
    __slots__ = (
        "name",
        "topic_id",
    )
    NAME = "MetadataRequestTopic"
    VERSIONS = (0, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("topic_id", "uuid", (10, 13), ignorable=True),
        Field("name", "string", (0, 13), nullable=(10, 13)),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        name: str | None = "",
    ) -> None:
        self.topic_id: bytes = topic_id
        self.name: str | None = name


class MetadataRequest(Entity):
    __slots__ = (
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
        "topics",
    )
    NAME = "MetadataRequest"
    VERSIONS = (0, 13)
    FLEXIBLE = 9
    API_KEY = 3
    SCHEMA = (
        Field("topics", MetadataRequestTopic, (0, 13), array=True, nullable=(1, 13)),
        Field("allow_auto_topic_creation", "bool", (4, 13), default=True),
        Field("include_cluster_authorized_operations", "bool", (8, 10)),
        Field("include_topic_authorized_operations", "bool", (8, 13)),
    )

    def __init__(
        self,
        *,
        topics: Iterable[MetadataRequestTopic] | None = (),
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics: list[MetadataRequestTopic] | None = (
            topics if topics is None or isinstance(topics, list) else list(topics)
        )
        self.allow_auto_topic_creation: bool = allow_auto_topic_creation
        self.include_cluster_authorized_operations: bool = include_cluster_authorized_operations
        self.include_topic_authorized_operations: bool = include_topic_authorized_operations


class MetadataResponseBroker(Entity):
    __slots__ = (
        "host",
        "node_id",
        "port",
        "rack",
    )
    NAME = "MetadataResponseBroker"
    VERSIONS = (0, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("node_id", "int32", (0, 13)),
        Field("host", "string", (0, 13)),
        Field("port", "int32", (0, 13)),
        Field("rack", "string", (1, 13), nullable=(1, 13), ignorable=True, default=None),
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.rack: str | None = rack


class MetadataResponsePartition(Entity):
    __slots__ = (
        "error_code",
        "isr_nodes",
        "leader_epoch",
        "leader_id",
        "offline_replicas",
        "partition_index",
        "replica_nodes",
    )
    NAME = "MetadataResponsePartition"
    VERSIONS = (0, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("error_code", "int16", (0, 13)),
        Field("partition_index", "int32", (0, 13)),
        Field("leader_id", "int32", (0, 13)),
        Field("leader_epoch", "int32", (7, 13), ignorable=True, default=-1),
        Field("replica_nodes", "int32", (0, 13), array=True),
        Field("isr_nodes", "int32", (0, 13), array=True),
        Field("offline_replicas", "int32", (5, 13), array=True, ignorable=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: Iterable[int] = (),
        isr_nodes: Iterable[int] = (),
        offline_replicas: Iterable[int] = (),
    ) -> None:
        self.error_code: int = error_code
        self.partition_index: int = partition_index
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.replica_nodes: list[int] = (
            replica_nodes if isinstance(replica_nodes, list) else list(replica_nodes)
        )
        self.isr_nodes: list[int] = isr_nodes if isinstance(isr_nodes, list) else list(isr_nodes)
        self.offline_replicas: list[int] = (
            offline_replicas if isinstance(offline_replicas, list) else list(offline_replicas)
        )


class MetadataResponseTopic(Entity):
    __slots__ = (
        "error_code",
        "is_internal",
        "name",
        "partitions",
        "topic_authorized_operations",
        "topic_id",
    )
    NAME = "MetadataResponseTopic"
    VERSIONS = (0, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("error_code", "int16", (0, 13)),
        Field("name", "string", (0, 13), nullable=(12, 13)),
        Field("topic_id", "uuid", (10, 13), ignorable=True),
        Field("is_internal", "bool", (1, 13), ignorable=True),
        Field("partitions", MetadataResponsePartition, (0, 13), array=True),
        Field("topic_authorized_operations", "int32", (8, 13), default=-2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_ID,
        is_internal: bool = False,
        partitions: Iterable[MetadataResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.is_internal: bool = is_internal
        self.partitions: list[MetadataResponsePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )
        self.topic_authorized_operations: int = topic_authorized_operations


class MetadataResponse(Entity):
    __slots__ = (
        "brokers",
        "cluster_authorized_operations",
        "cluster_id",
        "controller_id",
        "error_code",
        "throttle_time_ms",
        "topics",
    )
    NAME = "MetadataResponse"
    VERSIONS = (0, 13)
    FLEXIBLE = 9
    API_KEY = 3
    SCHEMA = (
        Field("throttle_time_ms", "int32", (3, 13), ignorable=True),
        Field("brokers", MetadataResponseBroker, (0, 13), array=True),
        Field("cluster_id", "string", (2, 13), nullable=(2, 13), ignorable=True, default=None),
        Field("controller_id", "int32", (1, 13), ignorable=True, default=-1),
        Field("topics", MetadataResponseTopic, (0, 13), array=True),
        Field("cluster_authorized_operations", "int32", (8, 10), default=-2147483648),
        Field("error_code", "int16", (13, 13), ignorable=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        brokers: Iterable[MetadataResponseBroker] = (),
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: Iterable[MetadataResponseTopic] = (),
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.brokers: list[MetadataResponseBroker] = (
            brokers if isinstance(brokers, list) else list(brokers)
        )
        self.cluster_id: str | None = cluster_id
        self.controller_id: int = controller_id
        self.topics: list[MetadataResponseTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.cluster_authorized_operations: int = cluster_authorized_operations
        self.error_code: int = error_code
