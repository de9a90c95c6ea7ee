"""DeleteRecords (number 21). Written by tools/generate_protocol.py.

DeleteRecordsRequest 0-2, DeleteRecordsResponse 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DeleteRecordsPartition(Entity):
    __slots__ = (
        "offset",
        "partition_index",
    )
    NAME = "DeleteRecordsPartition"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("partition_index", "int32", (0, 2)),
        Field("offset", "int64", (0, 2)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.offset: int = offset


class DeleteRecordsTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "DeleteRecordsTopic"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("name", "string", (0, 2)),
        Field("partitions", DeleteRecordsPartition, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[DeleteRecordsPartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[DeleteRecordsPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DeleteRecordsRequest(Entity):
    __slots__ = (
        "timeout_ms",
        "topics",
    )
    NAME = "DeleteRecordsRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    API_KEY = 21
    SCHEMA = (
        Field("topics", DeleteRecordsTopic, (0, 2), array=True),
        Field("timeout_ms", "int32", (0, 2)),
    )

    def __init__(
        self,
        *,
        topics: Iterable[DeleteRecordsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics: list[DeleteRecordsTopic] = topics if isinstance(topics, list) else list(topics)
        self.timeout_ms: int = timeout_ms


class DeleteRecordsPartitionResult(Entity):
    __slots__ = (
        "error_code",
        "low_watermark",
        "partition_index",
    )
    NAME = "DeleteRecordsPartitionResult"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("partition_index", "int32", (0, 2)),
        Field("low_watermark", "int64", (0, 2)),
        Field("error_code", "int16", (0, 2)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.low_watermark: int = low_watermark
        self.error_code: int = error_code


class DeleteRecordsTopicResult(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "DeleteRecordsTopicResult"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("name", "string", (0, 2)),
        Field("partitions", DeleteRecordsPartitionResult, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[DeleteRecordsPartitionResult] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[DeleteRecordsPartitionResult] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DeleteRecordsResponse(Entity):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    NAME = "DeleteRecordsResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    API_KEY = 21
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 2)),
        Field("topics", DeleteRecordsTopicResult, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[DeleteRecordsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[DeleteRecordsTopicResult] = (
            topics if isinstance(topics, list) else list(topics)
        )
