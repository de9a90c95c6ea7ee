"""AssignReplicasToDirs (number 73). Written by tools/generate_protocol.py.

AssignReplicasToDirsRequest 0-0, AssignReplicasToDirsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class RequestPartitionData(Entity):
    __slots__ = ("partition_index",)
    NAME = "RequestPartitionData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (Field("partition_index", "int32", (0, 0)),)

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index: int = partition_index


class RequestTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "RequestTopicData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("partitions", RequestPartitionData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[RequestPartitionData] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[RequestPartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class RequestDirectoryData(Entity):
    __slots__ = (
        "id",
        "topics",
    )
    NAME = "RequestDirectoryData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("id", "uuid", (0, 0)),
        Field("topics", RequestTopicData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        id: bytes = ZERO_ID,
        topics: Iterable[RequestTopicData] = (),
    ) -> None:
        self.id: bytes = id
        self.topics: list[RequestTopicData] = topics if isinstance(topics, list) else list(topics)


class AssignReplicasToDirsRequest(Entity):
    __slots__ = (
        "broker_epoch",
        "broker_id",
        "directories",
    )
    NAME = "AssignReplicasToDirsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 73
    SCHEMA = (
        Field("broker_id", "int32", (0, 0)),
        Field("broker_epoch", "int64", (0, 0), default=-1),
        Field("directories", RequestDirectoryData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: Iterable[RequestDirectoryData] = (),
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.directories: list[RequestDirectoryData] = (
            directories if isinstance(directories, list) else list(directories)
        )


class ResponsePartitionData(Entity):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    NAME = "ResponsePartitionData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class ResponseTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ResponseTopicData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("partitions", ResponsePartitionData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[ResponsePartitionData] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[ResponsePartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ResponseDirectoryData(Entity):
    __slots__ = (
        "id",
        "topics",
    )
    NAME = "ResponseDirectoryData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("id", "uuid", (0, 0)),
        Field("topics", ResponseTopicData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        id: bytes = ZERO_ID,
        topics: Iterable[ResponseTopicData] = (),
    ) -> None:
        self.id: bytes = id
        self.topics: list[ResponseTopicData] = topics if isinstance(topics, list) else list(topics)


class AssignReplicasToDirsResponse(Entity):
    __slots__ = (
        "directories",
        "error_code",
        "throttle_time_ms",
    )
    NAME = "AssignReplicasToDirsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 73
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("directories", ResponseDirectoryData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: Iterable[ResponseDirectoryData] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.directories: list[ResponseDirectoryData] = (
            directories if isinstance(directories, list) else list(directories)
        )
