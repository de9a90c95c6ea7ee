"""DescribeShareGroupOffsets (number 90). Written by tools/generate_protocol.py.

DescribeShareGroupOffsetsRequest 0-1, DescribeShareGroupOffsetsResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class DescribeShareGroupOffsetsRequestTopic(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "DescribeShareGroupOffsetsRequestTopic"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 1)),
        Field("partitions", "int32", (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DescribeShareGroupOffsetsRequestGroup(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "DescribeShareGroupOffsetsRequestGroup"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("group_id", "string", (0, 1)),
        Field("topics", DescribeShareGroupOffsetsRequestTopic, (0, 1), array=True, nullable=(0, 1)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[DescribeShareGroupOffsetsRequestTopic] | None = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[DescribeShareGroupOffsetsRequestTopic] | None = (
            topics if topics is None or isinstance(topics, list) else list(topics)
        )


class DescribeShareGroupOffsetsRequest(Entity):
    __slots__ = ("groups",)
    NAME = "DescribeShareGroupOffsetsRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 90
    SCHEMA = (Field("groups", DescribeShareGroupOffsetsRequestGroup, (0, 1), array=True),)

    def __init__(
        self,
        *,
        groups: Iterable[DescribeShareGroupOffsetsRequestGroup] = (),
    ) -> None:
        self.groups: list[DescribeShareGroupOffsetsRequestGroup] = (
            groups if isinstance(groups, list) else list(groups)
        )


class DescribeShareGroupOffsetsResponsePartition(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "lag",
        "leader_epoch",
        "partition_index",
        "start_offset",
    )
    NAME = "DescribeShareGroupOffsetsResponsePartition"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 1)),
        Field("start_offset", "int64", (0, 1)),
        Field("leader_epoch", "int32", (0, 1)),
        Field("lag", "int64", (1, 1), ignorable=True, default=-1),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1), default=None),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.start_offset: int = start_offset
        self.leader_epoch: int = leader_epoch
        self.lag: int = lag
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DescribeShareGroupOffsetsResponseTopic(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    NAME = "DescribeShareGroupOffsetsResponseTopic"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 1)),
        Field("topic_id", "uuid", (0, 1)),
        Field("partitions", DescribeShareGroupOffsetsResponsePartition, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[DescribeShareGroupOffsetsResponsePartition] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.topic_id: bytes = topic_id
        self.partitions: list[DescribeShareGroupOffsetsResponsePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DescribeShareGroupOffsetsResponseGroup(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "topics",
    )
    NAME = "DescribeShareGroupOffsetsResponseGroup"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("group_id", "string", (0, 1)),
        Field("topics", DescribeShareGroupOffsetsResponseTopic, (0, 1), array=True),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1), default=None),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[DescribeShareGroupOffsetsResponseTopic] = (),
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[DescribeShareGroupOffsetsResponseTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DescribeShareGroupOffsetsResponse(Entity):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    NAME = "DescribeShareGroupOffsetsResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 90
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1)),
        Field("groups", DescribeShareGroupOffsetsResponseGroup, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Iterable[DescribeShareGroupOffsetsResponseGroup] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[DescribeShareGroupOffsetsResponseGroup] = (
            groups if isinstance(groups, list) else list(groups)
        )
