"""OffsetFetch (number 9). Written by tools/generate_protocol.py.

OffsetFetchRequest 1-10, OffsetFetchResponse 1-10.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class OffsetFetchRequestTopic(Entity):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    NAME = "OffsetFetchRequestTopic"
    VERSIONS = (1, 7)
    FLEXIBLE = 6
    SCHEMA = (
        Field("name", "string", (1, 7)),
        Field("partition_indexes", "int32", (1, 7), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: Iterable[int] = (),
    ) -> None:
        self.name: str = name
        self.partition_indexes: list[int] = (
            partition_indexes if isinstance(partition_indexes, list) else list(partition_indexes)
        )


class OffsetFetchRequestTopics(Entity):
    __slots__ = (
        "name",
        "partition_indexes",
        "topic_id",
    )
    NAME = "OffsetFetchRequestTopics"
    VERSIONS = (8, 10)
    FLEXIBLE = 6
    SCHEMA = (
        Field("name", "string", (8, 9), ignorable=True),
        Field("topic_id", "uuid", (10, 10), ignorable=True),
        Field("partition_indexes", "int32", (8, 10), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_ID,
        partition_indexes: Iterable[int] = (),
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partition_indexes: list[int] = (
            partition_indexes if isinstance(partition_indexes, list) else list(partition_indexes)
        )


class OffsetFetchRequestGroup(Entity):
    __slots__ = (
        "group_id",
        "member_epoch",
        "member_id",
        "topics",
    )
    NAME = "OffsetFetchRequestGroup"
    VERSIONS = (8, 10)
    FLEXIBLE = 6
    SCHEMA = (
        Field("group_id", "string", (8, 10)),
        Field("member_id", "string", (9, 10), nullable=(9, 10), ignorable=True, default=None),
        Field("member_epoch", "int32", (9, 10), ignorable=True, default=-1),
        Field("topics", OffsetFetchRequestTopics, (8, 10), array=True, nullable=(8, 10)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: Iterable[OffsetFetchRequestTopics] | None = (),
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str | None = member_id
        self.member_epoch: int = member_epoch
        self.topics: list[OffsetFetchRequestTopics] | None = (
            topics if topics is None or isinstance(topics, list) else list(topics)
        )


class OffsetFetchRequest(Entity):
    __slots__ = (
        "group_id",
        "groups",
        "require_stable",
        "topics",
    )
    NAME = "OffsetFetchRequest"
    VERSIONS = (1, 10)
    FLEXIBLE = 6
    API_KEY = 9
    SCHEMA = (
        Field("group_id", "string", (1, 7)),
        Field("topics", OffsetFetchRequestTopic, (1, 7), array=True, nullable=(2, 7)),
        Field("groups", OffsetFetchRequestGroup, (8, 10), array=True),
        Field("require_stable", "bool", (7, 10)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[OffsetFetchRequestTopic] | None = (),
        groups: Iterable[OffsetFetchRequestGroup] = (),
        require_stable: bool = False,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[OffsetFetchRequestTopic] | None = (
            topics if topics is None or isinstance(topics, list) else list(topics)
        )
        self.groups: list[OffsetFetchRequestGroup] = (
            groups if isinstance(groups, list) else list(groups)
        )
        self.require_stable: bool = require_stable


class OffsetFetchResponsePartition(Entity):
    __slots__ = (
        "committed_leader_epoch",
        "committed_offset",
        "error_code",
        "metadata",
        "partition_index",
    )
    NAME = "OffsetFetchResponsePartition"
    VERSIONS = (1, 7)
    FLEXIBLE = 6
    SCHEMA = (
        Field("partition_index", "int32", (1, 7)),
        Field("committed_offset", "int64", (1, 7)),
        Field("committed_leader_epoch", "int32", (5, 7), ignorable=True, default=-1),
        Field("metadata", "string", (1, 7), nullable=(1, 7)),
        Field("error_code", "int16", (1, 7)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.committed_offset: int = committed_offset
        self.committed_leader_epoch: int = committed_leader_epoch
        self.metadata: str | None = metadata
        self.error_code: int = error_code


class OffsetFetchResponseTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "OffsetFetchResponseTopic"
    VERSIONS = (1, 7)
    FLEXIBLE = 6
    SCHEMA = (
        Field("name", "string", (1, 7)),
        Field("partitions", OffsetFetchResponsePartition, (1, 7), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[OffsetFetchResponsePartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[OffsetFetchResponsePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class OffsetFetchResponsePartitions(Entity):
    __slots__ = (
        "committed_leader_epoch",
        "committed_offset",
        "error_code",
        "metadata",
        "partition_index",
    )
    NAME = "OffsetFetchResponsePartitions"
    VERSIONS = (8, 10)
    FLEXIBLE = 6
    SCHEMA = (
        Field("partition_index", "int32", (8, 10)),
        Field("committed_offset", "int64", (8, 10)),
        Field("committed_leader_epoch", "int32", (8, 10), ignorable=True, default=-1),
        Field("metadata", "string", (8, 10), nullable=(8, 10)),
        Field("error_code", "int16", (8, 10)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.committed_offset: int = committed_offset
        self.committed_leader_epoch: int = committed_leader_epoch
        self.metadata: str | None = metadata
        self.error_code: int = error_code


class OffsetFetchResponseTopics(Entity):
    __slots__ = (
        "name",
        "partitions",
        "topic_id",
    )
    NAME = "OffsetFetchResponseTopics"
    VERSIONS = (8, 10)
    FLEXIBLE = 6
    SCHEMA = (
        Field("name", "string", (8, 9), ignorable=True),
        Field("topic_id", "uuid", (10, 10), ignorable=True),
        Field("partitions", OffsetFetchResponsePartitions, (8, 10), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[OffsetFetchResponsePartitions] = (),
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partitions: list[OffsetFetchResponsePartitions] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class OffsetFetchResponseGroup(Entity):
    __slots__ = (
        "error_code",
        "group_id",
        "topics",
    )
    NAME = "OffsetFetchResponseGroup"
    VERSIONS = (8, 10)
    FLEXIBLE = 6
    SCHEMA = (
        Field("group_id", "string", (8, 10)),
        Field("topics", OffsetFetchResponseTopics, (8, 10), array=True),
        Field("error_code", "int16", (8, 10)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[OffsetFetchResponseTopics] = (),
        error_code: int = 0,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[OffsetFetchResponseTopics] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.error_code: int = error_code


class OffsetFetchResponse(Entity):
    __slots__ = (
        "error_code",
        "groups",
        "throttle_time_ms",
        "topics",
    )
    NAME = "OffsetFetchResponse"
    VERSIONS = (1, 10)
    FLEXIBLE = 6
    API_KEY = 9
    SCHEMA = (
        Field("throttle_time_ms", "int32", (3, 10), ignorable=True),
        Field("topics", OffsetFetchResponseTopic, (1, 7), array=True),
        Field("error_code", "int16", (2, 7), ignorable=True),
        Field("groups", OffsetFetchResponseGroup, (8, 10), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[OffsetFetchResponseTopic] = (),
        error_code: int = 0,
        groups: Iterable[OffsetFetchResponseGroup] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[OffsetFetchResponseTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.error_code: int = error_code
        self.groups: list[OffsetFetchResponseGroup] = (
            groups if isinstance(groups, list) else list(groups)
        )
