"""OffsetCommit (number 8). Written by tools/generate_protocol.py.

OffsetCommitRequest 2-10, OffsetCommitResponse 2-10.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class OffsetCommitRequestPartition(Entity):
    __slots__ = (
        "committed_leader_epoch",
        "committed_metadata",
        "committed_offset",
        "partition_index",
    )
    NAME = "OffsetCommitRequestPartition"
    VERSIONS = (2, 10)
    FLEXIBLE = 8
    SCHEMA = (
        Field("partition_index", "int32", (2, 10)),
        Field("committed_offset", "int64", (2, 10)),
        Field("committed_leader_epoch", "int32", (6, 10), ignorable=True, default=-1),
        Field("committed_metadata", "string", (2, 10), nullable=(2, 10)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index: int = partition_index
        self.committed_offset: int = committed_offset
        self.committed_leader_epoch: int = committed_leader_epoch
        self.committed_metadata: str | None = committed_metadata


class OffsetCommitRequestTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
        "topic_id",
    )
    NAME = "OffsetCommitRequestTopic"
    VERSIONS = (2, 10)
    FLEXIBLE = 8
    SCHEMA = (
        Field("name", "string", (2, 9), ignorable=True),
        Field("topic_id", "uuid", (10, 10), ignorable=True),
        Field("partitions", OffsetCommitRequestPartition, (2, 10), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[OffsetCommitRequestPartition] = (),
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partitions: list[OffsetCommitRequestPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class OffsetCommitRequest(Entity):
    __slots__ = (
        "generation_id_or_member_epoch",
        "group_id",
        "group_instance_id",
        "member_id",
        "retention_time_ms",
        "topics",
    )
    NAME = "OffsetCommitRequest"
    VERSIONS = (2, 10)
    FLEXIBLE = 8
    API_KEY = 8
    SCHEMA = (
        Field("group_id", "string", (2, 10)),
        Field("generation_id_or_member_epoch", "int32", (2, 10), ignorable=True, default=-1),
        Field("member_id", "string", (2, 10), ignorable=True),
        Field("group_instance_id", "string", (7, 10), nullable=(7, 10), default=None),
        Field("retention_time_ms", "int64", (2, 4), ignorable=True, default=-1),
        Field("topics", OffsetCommitRequestTopic, (2, 10), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: Iterable[OffsetCommitRequestTopic] = (),
    ) -> None:
        self.group_id: str = group_id
        self.generation_id_or_member_epoch: int = generation_id_or_member_epoch
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.retention_time_ms: int = retention_time_ms
        self.topics: list[OffsetCommitRequestTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )


class OffsetCommitResponsePartition(Entity):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    NAME = "OffsetCommitResponsePartition"
    VERSIONS = (2, 10)
    FLEXIBLE = 8
    SCHEMA = (
        Field("partition_index", "int32", (2, 10)),
        Field("error_code", "int16", (2, 10)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class OffsetCommitResponseTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
        "topic_id",
    )
    NAME = "OffsetCommitResponseTopic"
    VERSIONS = (2, 10)
    FLEXIBLE = 8
    SCHEMA = (
        Field("name", "string", (2, 9), ignorable=True),
        Field("topic_id", "uuid", (10, 10), ignorable=True),
        Field("partitions", OffsetCommitResponsePartition, (2, 10), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[OffsetCommitResponsePartition] = (),
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partitions: list[OffsetCommitResponsePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class OffsetCommitResponse(Entity):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    NAME = "OffsetCommitResponse"
    VERSIONS = (2, 10)
    FLEXIBLE = 8
    API_KEY = 8
    SCHEMA = (
        Field("throttle_time_ms", "int32", (3, 10), ignorable=True),
        Field("topics", OffsetCommitResponseTopic, (2, 10), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[OffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[OffsetCommitResponseTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
