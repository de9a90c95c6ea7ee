"""OffsetDelete (number 47). Written by tools/generate_protocol.py.

OffsetDeleteRequest 0-0, OffsetDeleteResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class OffsetDeleteRequestPartition(Entity):
    __slots__ = ("partition_index",)
    NAME = "OffsetDeleteRequestPartition"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    SCHEMA = (Field("partition_index", "int32", (0, 0)),)

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index: int = partition_index


class OffsetDeleteRequestTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "OffsetDeleteRequestTopic"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("partitions", OffsetDeleteRequestPartition, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[OffsetDeleteRequestPartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[OffsetDeleteRequestPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class OffsetDeleteRequest(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "OffsetDeleteRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 47
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("topics", OffsetDeleteRequestTopic, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[OffsetDeleteRequestTopic] = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[OffsetDeleteRequestTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )


class OffsetDeleteResponsePartition(Entity):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    NAME = "OffsetDeleteResponsePartition"
    VERSIONS = (0, 0)
    FLEXIBLE = None
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


class OffsetDeleteResponseTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "OffsetDeleteResponseTopic"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("partitions", OffsetDeleteResponsePartition, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[OffsetDeleteResponsePartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[OffsetDeleteResponsePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class OffsetDeleteResponse(Entity):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "topics",
    )
    NAME = "OffsetDeleteResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 47
    SCHEMA = (
        Field("error_code", "int16", (0, 0)),
        Field("throttle_time_ms", "int32", (0, 0), ignorable=True),
        Field("topics", OffsetDeleteResponseTopic, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: Iterable[OffsetDeleteResponseTopic] = (),
    ) -> None:
        self.error_code: int = error_code
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[OffsetDeleteResponseTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
