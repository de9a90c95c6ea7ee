"""AlterShareGroupOffsets (number 91). Written by tools/generate_protocol.py.

AlterShareGroupOffsetsRequest 0-0, AlterShareGroupOffsetsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class AlterShareGroupOffsetsRequestPartition(Entity):
    __slots__ = (
        "partition_index",
        "start_offset",
    )
    NAME = "AlterShareGroupOffsetsRequestPartition"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 0)),
        Field("start_offset", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.start_offset: int = start_offset


class AlterShareGroupOffsetsRequestTopic(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "AlterShareGroupOffsetsRequestTopic"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 0)),
        Field("partitions", AlterShareGroupOffsetsRequestPartition, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: Iterable[AlterShareGroupOffsetsRequestPartition] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[AlterShareGroupOffsetsRequestPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AlterShareGroupOffsetsRequest(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "AlterShareGroupOffsetsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 91
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("topics", AlterShareGroupOffsetsRequestTopic, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[AlterShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[AlterShareGroupOffsetsRequestTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )


class AlterShareGroupOffsetsResponsePartition(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "partition_index",
    )
    NAME = "AlterShareGroupOffsetsResponsePartition"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class AlterShareGroupOffsetsResponseTopic(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    NAME = "AlterShareGroupOffsetsResponseTopic"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 0)),
        Field("topic_id", "uuid", (0, 0)),
        Field("partitions", AlterShareGroupOffsetsResponsePartition, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[AlterShareGroupOffsetsResponsePartition] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.topic_id: bytes = topic_id
        self.partitions: list[AlterShareGroupOffsetsResponsePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AlterShareGroupOffsetsResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "responses",
        "throttle_time_ms",
    )
    NAME = "AlterShareGroupOffsetsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 91
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
        Field("responses", AlterShareGroupOffsetsResponseTopic, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Iterable[AlterShareGroupOffsetsResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.responses: list[AlterShareGroupOffsetsResponseTopic] = (
            responses if isinstance(responses, list) else list(responses)
        )
