"""ListOffsets (number 2). Written by tools/generate_protocol.py.

ListOffsetsRequest 1-11, ListOffsetsResponse 1-11.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ListOffsetsPartition(Entity):
    __slots__ = (
        "current_leader_epoch",
        "partition_index",
        "timestamp",
    )
    NAME = "ListOffsetsPartition"
    VERSIONS = (1, 11)
    FLEXIBLE = 6
    SCHEMA = (
        Field("partition_index", "int32", (1, 11)),
        Field("current_leader_epoch", "int32", (4, 11), ignorable=True, default=-1),
        Field("timestamp", "int64", (1, 11)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.current_leader_epoch: int = current_leader_epoch
        self.timestamp: int = timestamp


class ListOffsetsTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "ListOffsetsTopic"
    VERSIONS = (1, 11)
    FLEXIBLE = 6
    SCHEMA = (
        Field("name", "string", (1, 11)),
        Field("partitions", ListOffsetsPartition, (1, 11), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[ListOffsetsPartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[ListOffsetsPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ListOffsetsRequest(Entity):
    __slots__ = (
        "isolation_level",
        "replica_id",
        "timeout_ms",
        "topics",
    )
    NAME = "ListOffsetsRequest"
    VERSIONS = (1, 11)
    FLEXIBLE = 6
    API_KEY = 2
    SCHEMA = (
        Field("replica_id", "int32", (1, 11)),
        Field("isolation_level", "int8", (2, 11)),
        Field("topics", ListOffsetsTopic, (1, 11), array=True),
        Field("timeout_ms", "int32", (10, 11), ignorable=True),
    )

    def __init__(
        self,
        *,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: Iterable[ListOffsetsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id: int = replica_id
        self.isolation_level: int = isolation_level
        self.topics: list[ListOffsetsTopic] = topics if isinstance(topics, list) else list(topics)
        self.timeout_ms: int = timeout_ms


class ListOffsetsPartitionResponse(Entity):
    __slots__ = (
        "error_code",
        "leader_epoch",
        "offset",
        "partition_index",
        "timestamp",
    )
    NAME = "ListOffsetsPartitionResponse"
    VERSIONS = (1, 11)
    FLEXIBLE = 6
    SCHEMA = (
        Field("partition_index", "int32", (1, 11)),
        Field("error_code", "int16", (1, 11)),
        Field("timestamp", "int64", (1, 11), default=-1),
        Field("offset", "int64", (1, 11), default=-1),
        Field("leader_epoch", "int32", (4, 11), default=-1),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.timestamp: int = timestamp
        self.offset: int = offset
        self.leader_epoch: int = leader_epoch


class ListOffsetsTopicResponse(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "ListOffsetsTopicResponse"
    VERSIONS = (1, 11)
    FLEXIBLE = 6
    SCHEMA = (
        Field("name", "string", (1, 11)),
        Field("partitions", ListOffsetsPartitionResponse, (1, 11), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[ListOffsetsPartitionResponse] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[ListOffsetsPartitionResponse] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ListOffsetsResponse(Entity):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    NAME = "ListOffsetsResponse"
    VERSIONS = (1, 11)
    FLEXIBLE = 6
    API_KEY = 2
    SCHEMA = (
        Field("throttle_time_ms", "int32", (2, 11), ignorable=True),
        Field("topics", ListOffsetsTopicResponse, (1, 11), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[ListOffsetsTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[ListOffsetsTopicResponse] = (
            topics if isinstance(topics, list) else list(topics)
        )
