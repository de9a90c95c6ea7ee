"""DeleteShareGroupState (number 86). Written by tools/generate_protocol.py.

DeleteShareGroupStateRequest 0-0, DeleteShareGroupStateResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class PartitionData(Entity):
    __slots__ = ("partition",)
    NAME = "PartitionData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (Field("partition", "int32", (0, 0)),)

    def __init__(
        self,
        *,
        partition: int = 0,
    ) -> None:
        self.partition: int = partition


class DeleteStateData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "DeleteStateData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("partitions", PartitionData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[PartitionData] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[PartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DeleteShareGroupStateRequest(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "DeleteShareGroupStateRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 86
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("topics", DeleteStateData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[DeleteStateData] = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[DeleteStateData] = topics if isinstance(topics, list) else list(topics)


class PartitionResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "partition",
    )
    NAME = "PartitionResult"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition: int = partition
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DeleteStateResult(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "DeleteStateResult"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("partitions", PartitionResult, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[PartitionResult] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[PartitionResult] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DeleteShareGroupStateResponse(Entity):
    __slots__ = ("results",)
    NAME = "DeleteShareGroupStateResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 86
    SCHEMA = (Field("results", DeleteStateResult, (0, 0), array=True),)

    def __init__(
        self,
        *,
        results: Iterable[DeleteStateResult] = (),
    ) -> None:
        self.results: list[DeleteStateResult] = (
            results if isinstance(results, list) else list(results)
        )
