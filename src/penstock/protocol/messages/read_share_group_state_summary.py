"""ReadShareGroupStateSummary (number 87). Written by tools/generate_protocol.py.

ReadShareGroupStateSummaryRequest 0-1, ReadShareGroupStateSummaryResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class PartitionData(Entity):
    __slots__ = (
        "leader_epoch",
        "partition",
    )
    NAME = "PartitionData"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 1)),
        Field("leader_epoch", "int32", (0, 1)),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition: int = partition
        self.leader_epoch: int = leader_epoch


class ReadStateSummaryData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ReadStateSummaryData"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 1)),
        Field("partitions", PartitionData, (0, 1), array=True),
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


class ReadShareGroupStateSummaryRequest(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "ReadShareGroupStateSummaryRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 87
    SCHEMA = (
        Field("group_id", "string", (0, 1)),
        Field("topics", ReadStateSummaryData, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[ReadStateSummaryData] = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[ReadStateSummaryData] = (
            topics if isinstance(topics, list) else list(topics)
        )


class PartitionResult(Entity):
    __slots__ = (
        "delivery_complete_count",
        "error_code",
        "error_message",
        "leader_epoch",
        "partition",
        "start_offset",
        "state_epoch",
    )
    NAME = "PartitionResult"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1), default=None),
        Field("state_epoch", "int32", (0, 1)),
        Field("leader_epoch", "int32", (0, 1)),
        Field("start_offset", "int64", (0, 1)),
        Field("delivery_complete_count", "int32", (1, 1), ignorable=True, default=-1),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
    ) -> None:
        self.partition: int = partition
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.state_epoch: int = state_epoch
        self.leader_epoch: int = leader_epoch
        self.start_offset: int = start_offset
        self.delivery_complete_count: int = delivery_complete_count


class ReadStateSummaryResult(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ReadStateSummaryResult"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 1)),
        Field("partitions", PartitionResult, (0, 1), array=True),
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


class ReadShareGroupStateSummaryResponse(Entity):
    __slots__ = ("results",)
    NAME = "ReadShareGroupStateSummaryResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 87
    SCHEMA = (Field("results", ReadStateSummaryResult, (0, 1), array=True),)

    def __init__(
        self,
        *,
        results: Iterable[ReadStateSummaryResult] = (),
    ) -> None:
        self.results: list[ReadStateSummaryResult] = (
            results if isinstance(results, list) else list(results)
        )
