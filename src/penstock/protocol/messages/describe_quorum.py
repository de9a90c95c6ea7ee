"""DescribeQuorum (number 55). Written by tools/generate_protocol.py.

DescribeQuorumRequest 0-2, DescribeQuorumResponse 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class RequestPartitionData(Entity):
    __slots__ = ("partition_index",)
    NAME = "RequestPartitionData"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (Field("partition_index", "int32", (0, 2)),)

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index: int = partition_index


class RequestTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "RequestTopicData"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 2)),
        Field("partitions", RequestPartitionData, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: Iterable[RequestPartitionData] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[RequestPartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DescribeQuorumRequest(Entity):
    __slots__ = ("topics",)
    NAME = "DescribeQuorumRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 55
    SCHEMA = (Field("topics", RequestTopicData, (0, 2), array=True),)

    def __init__(
        self,
        *,
        topics: Iterable[RequestTopicData] = (),
    ) -> None:
        self.topics: list[RequestTopicData] = topics if isinstance(topics, list) else list(topics)


class ReplicaState(Entity):
    __slots__ = (
        "last_caught_up_timestamp",
        "last_fetch_timestamp",
        "log_end_offset",
        "replica_directory_id",
        "replica_id",
    )
    NAME = "ReplicaState"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("replica_id", "int32", (0, 2)),
        Field("replica_directory_id", "uuid", (2, 2)),
        Field("log_end_offset", "int64", (0, 2)),
        Field("last_fetch_timestamp", "int64", (1, 2), ignorable=True, default=-1),
        Field("last_caught_up_timestamp", "int64", (1, 2), ignorable=True, default=-1),
    )

    def __init__(
        self,
        *,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_ID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id: int = replica_id
        self.replica_directory_id: bytes = replica_directory_id
        self.log_end_offset: int = log_end_offset
        self.last_fetch_timestamp: int = last_fetch_timestamp
        self.last_caught_up_timestamp: int = last_caught_up_timestamp


class ResponsePartitionData(Entity):
    __slots__ = (
        "current_voters",
        "error_code",
        "error_message",
        "high_watermark",
        "leader_epoch",
        "leader_id",
        "observers",
        "partition_index",
    )
    NAME = "ResponsePartitionData"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 2)),
        Field("error_code", "int16", (0, 2)),
        Field("error_message", "string", (2, 2), nullable=(2, 2), ignorable=True),
        Field("leader_id", "int32", (0, 2)),
        Field("leader_epoch", "int32", (0, 2)),
        Field("high_watermark", "int64", (0, 2)),
        Field("current_voters", ReplicaState, (0, 2), array=True),
        Field("observers", ReplicaState, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: Iterable[ReplicaState] = (),
        observers: Iterable[ReplicaState] = (),
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.high_watermark: int = high_watermark
        self.current_voters: list[ReplicaState] = (
            current_voters if isinstance(current_voters, list) else list(current_voters)
        )
        self.observers: list[ReplicaState] = (
            observers if isinstance(observers, list) else list(observers)
        )


class ResponseTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "ResponseTopicData"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 2)),
        Field("partitions", ResponsePartitionData, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: Iterable[ResponsePartitionData] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[ResponsePartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class Listener(Entity):
    __slots__ = (
        "host",
        "name",
        "port",
    )
    NAME = "Listener"
    VERSIONS = (2, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (2, 2)),
        Field("host", "string", (2, 2)),
        Field("port", "uint16", (2, 2)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port


class Node(Entity):
    __slots__ = (
        "listeners",
        "node_id",
    )
    NAME = "Node"
    VERSIONS = (2, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("node_id", "int32", (2, 2)),
        Field("listeners", Listener, (2, 2), array=True),
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        listeners: Iterable[Listener] = (),
    ) -> None:
        self.node_id: int = node_id
        self.listeners: list[Listener] = (
            listeners if isinstance(listeners, list) else list(listeners)
        )


class DescribeQuorumResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "nodes",
        "topics",
    )
    NAME = "DescribeQuorumResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 55
    SCHEMA = (
        Field("error_code", "int16", (0, 2)),
        Field("error_message", "string", (2, 2), nullable=(2, 2), ignorable=True),
        Field("topics", ResponseTopicData, (0, 2), array=True),
        Field("nodes", Node, (2, 2), array=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Iterable[ResponseTopicData] = (),
        nodes: Iterable[Node] = (),
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topics: list[ResponseTopicData] = topics if isinstance(topics, list) else list(topics)
        self.nodes: list[Node] = nodes if isinstance(nodes, list) else list(nodes)
