"""InitializeShareGroupState (number 83). Written by tools/generate_protocol.py.

InitializeShareGroupStateRequest 0-0, InitializeShareGroupStateResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class PartitionData(Entity):
    __slots__ = (
        "partition",
        "start_offset",
        "state_epoch",
    )
    NAME = "PartitionData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 0)),
        Field("state_epoch", "int32", (0, 0)),
        Field("start_offset", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        state_epoch: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition: int = partition
        self.state_epoch: int = state_epoch
        self.start_offset: int = start_offset


class InitializeStateData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "InitializeStateData"
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


class InitializeShareGroupStateRequest(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "InitializeShareGroupStateRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 83
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("topics", InitializeStateData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[InitializeStateData] = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[InitializeStateData] = (
            topics if isinstance(topics, list) else list(topics)
        )


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


class InitializeStateResult(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "InitializeStateResult"
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


class InitializeShareGroupStateResponse(Entity):
    __slots__ = ("results",)
    NAME = "InitializeShareGroupStateResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 83
    SCHEMA = (Field("results", InitializeStateResult, (0, 0), array=True),)

    def __init__(
        self,
        *,
        results: Iterable[InitializeStateResult] = (),
    ) -> None:
        self.results: list[InitializeStateResult] = (
            results if isinstance(results, list) else list(results)
        )
