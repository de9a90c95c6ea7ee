"""WriteShareGroupState (number 85). Written by tools/generate_protocol.py.

WriteShareGroupStateRequest 0-1, WriteShareGroupStateResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class StateBatch(Entity):
    __slots__ = (
        "delivery_count",
        "delivery_state",
        "first_offset",
        "last_offset",
    )
    NAME = "StateBatch"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("first_offset", "int64", (0, 1)),
        Field("last_offset", "int64", (0, 1)),
        Field("delivery_state", "int8", (0, 1)),
        Field("delivery_count", "int16", (0, 1)),
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset: int = first_offset
        self.last_offset: int = last_offset
        self.delivery_state: int = delivery_state
        self.delivery_count: int = delivery_count


class PartitionData(Entity):
    __slots__ = (
        "delivery_complete_count",
        "leader_epoch",
        "partition",
        "start_offset",
        "state_batches",
        "state_epoch",
    )
    NAME = "PartitionData"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 1)),
        Field("state_epoch", "int32", (0, 1)),
        Field("leader_epoch", "int32", (0, 1)),
        Field("start_offset", "int64", (0, 1)),
        Field("delivery_complete_count", "int32", (1, 1), ignorable=True, default=-1),
        Field("state_batches", StateBatch, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: Iterable[StateBatch] = (),
    ) -> None:
        self.partition: int = partition
        self.state_epoch: int = state_epoch
        self.leader_epoch: int = leader_epoch
        self.start_offset: int = start_offset
        self.delivery_complete_count: int = delivery_complete_count
        self.state_batches: list[StateBatch] = (
            state_batches if isinstance(state_batches, list) else list(state_batches)
        )


class WriteStateData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "WriteStateData"
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


class WriteShareGroupStateRequest(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "WriteShareGroupStateRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 85
    SCHEMA = (
        Field("group_id", "string", (0, 1)),
        Field("topics", WriteStateData, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[WriteStateData] = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[WriteStateData] = topics if isinstance(topics, list) else list(topics)


class PartitionResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "partition",
    )
    NAME = "PartitionResult"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1), default=None),
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


class WriteStateResult(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "WriteStateResult"
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


class WriteShareGroupStateResponse(Entity):
    __slots__ = ("results",)
    NAME = "WriteShareGroupStateResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 85
    SCHEMA = (Field("results", WriteStateResult, (0, 1), array=True),)

    def __init__(
        self,
        *,
        results: Iterable[WriteStateResult] = (),
    ) -> None:
        self.results: list[WriteStateResult] = (
            results if isinstance(results, list) else list(results)
        )
