"""ReadShareGroupState (number 84). Written by tools/generate_protocol.py.

ReadShareGroupStateRequest 0-0, ReadShareGroupStateResponse 0-0.
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
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 0)),
        Field("leader_epoch", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition: int = partition
        self.leader_epoch: int = leader_epoch


class ReadStateData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ReadStateData"
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


class ReadShareGroupStateRequest(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "ReadShareGroupStateRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 84
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("topics", ReadStateData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[ReadStateData] = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[ReadStateData] = topics if isinstance(topics, list) else list(topics)


class StateBatch(Entity):
    __slots__ = (
        "delivery_count",
        "delivery_state",
        "first_offset",
        "last_offset",
    )
    NAME = "StateBatch"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("first_offset", "int64", (0, 0)),
        Field("last_offset", "int64", (0, 0)),
        Field("delivery_state", "int8", (0, 0)),
        Field("delivery_count", "int16", (0, 0)),
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


class PartitionResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "partition",
        "start_offset",
        "state_batches",
        "state_epoch",
    )
    NAME = "PartitionResult"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
        Field("state_epoch", "int32", (0, 0)),
        Field("start_offset", "int64", (0, 0)),
        Field("state_batches", StateBatch, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        start_offset: int = 0,
        state_batches: Iterable[StateBatch] = (),
    ) -> None:
        self.partition: int = partition
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.state_epoch: int = state_epoch
        self.start_offset: int = start_offset
        self.state_batches: list[StateBatch] = (
            state_batches if isinstance(state_batches, list) else list(state_batches)
        )


class ReadStateResult(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ReadStateResult"
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


class ReadShareGroupStateResponse(Entity):
    __slots__ = ("results",)
    NAME = "ReadShareGroupStateResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 84
    SCHEMA = (Field("results", ReadStateResult, (0, 0), array=True),)

    def __init__(
        self,
        *,
        results: Iterable[ReadStateResult] = (),
    ) -> None:
        self.results: list[ReadStateResult] = (
            results if isinstance(results, list) else list(results)
        )
