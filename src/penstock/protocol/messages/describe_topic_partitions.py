"""DescribeTopicPartitions (number 75). Written by tools/generate_protocol.py.

DescribeTopicPartitionsRequest 0-0, DescribeTopicPartitionsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class TopicRequest(Entity):
    __slots__ = ("name",)
    NAME = "TopicRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (Field("name", "string", (0, 0)),)

    def __init__(
        self,
        *,
        name: str = "",
    ) -> None:
        self.name: str = name


class RequestCursor(Entity):
    __slots__ = (
        "partition_index",
        "topic_name",
    )
    NAME = "RequestCursor"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 0)),
        Field("partition_index", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name: str = topic_name
        self.partition_index: int = partition_index


class DescribeTopicPartitionsRequest(Entity):
    __slots__ = (
        "cursor",
        "response_partition_limit",
        "topics",
    )
    NAME = "DescribeTopicPartitionsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 75
    SCHEMA = (
        Field("topics", TopicRequest, (0, 0), array=True),
        Field("response_partition_limit", "int32", (0, 0), default=2000),
        Field("cursor", RequestCursor, (0, 0), nullable=(0, 0), default=None),
    )

    def __init__(
        self,
        *,
        topics: Iterable[TopicRequest] = (),
        response_partition_limit: int = 2000,
        cursor: RequestCursor | None = None,
    ) -> None:
        self.topics: list[TopicRequest] = topics if isinstance(topics, list) else list(topics)
        self.response_partition_limit: int = response_partition_limit
        self.cursor: RequestCursor | None = cursor


class DescribeTopicPartitionsResponsePartition(Entity):
    __slots__ = (
        "eligible_leader_replicas",
        "error_code",
        "isr_nodes",
        "last_known_elr",
        "leader_epoch",
        "leader_id",
        "offline_replicas",
        "partition_index",
        "replica_nodes",
    )
    NAME = "DescribeTopicPartitionsResponsePartition"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("error_code", "int16", (0, 0)),
        Field("partition_index", "int32", (0, 0)),
        Field("leader_id", "int32", (0, 0)),
        Field("leader_epoch", "int32", (0, 0), ignorable=True, default=-1),
        Field("replica_nodes", "int32", (0, 0), array=True),
        Field("isr_nodes", "int32", (0, 0), array=True),
        Field(
            "eligible_leader_replicas", "int32", (0, 0), array=True, nullable=(0, 0), default=None
        ),
        Field("last_known_elr", "int32", (0, 0), array=True, nullable=(0, 0), default=None),
        Field("offline_replicas", "int32", (0, 0), array=True, ignorable=True),
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
        eligible_leader_replicas: Iterable[int] | None = None,
        last_known_elr: Iterable[int] | None = None,
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
        self.eligible_leader_replicas: list[int] | None = (
            eligible_leader_replicas
            if eligible_leader_replicas is None or isinstance(eligible_leader_replicas, list)
            else list(eligible_leader_replicas)
        )
        self.last_known_elr: list[int] | None = (
            last_known_elr
            if last_known_elr is None or isinstance(last_known_elr, list)
            else list(last_known_elr)
        )
        self.offline_replicas: list[int] = (
            offline_replicas if isinstance(offline_replicas, list) else list(offline_replicas)
        )


class DescribeTopicPartitionsResponseTopic(Entity):
    __slots__ = (
        "error_code",
        "is_internal",
        "name",
        "partitions",
        "topic_authorized_operations",
        "topic_id",
    )
    NAME = "DescribeTopicPartitionsResponseTopic"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("error_code", "int16", (0, 0)),
        Field("name", "string", (0, 0), nullable=(0, 0)),
        Field("topic_id", "uuid", (0, 0), ignorable=True),
        Field("is_internal", "bool", (0, 0), ignorable=True),
        Field("partitions", DescribeTopicPartitionsResponsePartition, (0, 0), array=True),
        Field("topic_authorized_operations", "int32", (0, 0), default=-2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_ID,
        is_internal: bool = False,
        partitions: Iterable[DescribeTopicPartitionsResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.is_internal: bool = is_internal
        self.partitions: list[DescribeTopicPartitionsResponsePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )
        self.topic_authorized_operations: int = topic_authorized_operations


class ResponseCursor(Entity):
    __slots__ = (
        "partition_index",
        "topic_name",
    )
    NAME = "ResponseCursor"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 0)),
        Field("partition_index", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name: str = topic_name
        self.partition_index: int = partition_index


class DescribeTopicPartitionsResponse(Entity):
    __slots__ = (
        "next_cursor",
        "throttle_time_ms",
        "topics",
    )
    NAME = "DescribeTopicPartitionsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 75
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0), ignorable=True),
        Field("topics", DescribeTopicPartitionsResponseTopic, (0, 0), array=True),
        Field("next_cursor", ResponseCursor, (0, 0), nullable=(0, 0), default=None),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[DescribeTopicPartitionsResponseTopic] = (),
        next_cursor: ResponseCursor | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[DescribeTopicPartitionsResponseTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.next_cursor: ResponseCursor | None = next_cursor
