"""OffsetForLeaderEpoch (number 23). Written by tools/generate_protocol.py.

OffsetForLeaderEpochRequest 2-4, OffsetForLeaderEpochResponse 2-4.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class OffsetForLeaderPartition(Entity):
    __slots__ = (
        "current_leader_epoch",
        "leader_epoch",
        "partition",
    )
    NAME = "OffsetForLeaderPartition"
    VERSIONS = (2, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("partition", "int32", (2, 4)),
        Field("current_leader_epoch", "int32", (2, 4), ignorable=True, default=-1),
        Field("leader_epoch", "int32", (2, 4)),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition: int = partition
        self.current_leader_epoch: int = current_leader_epoch
        self.leader_epoch: int = leader_epoch


class OffsetForLeaderTopic(Entity):
    __slots__ = (
        "partitions",
        "topic",
    )
    NAME = "OffsetForLeaderTopic"
    VERSIONS = (2, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("topic", "string", (2, 4)),
        Field("partitions", OffsetForLeaderPartition, (2, 4), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: Iterable[OffsetForLeaderPartition] = (),
    ) -> None:
        self.topic: str = topic
        self.partitions: list[OffsetForLeaderPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class OffsetForLeaderEpochRequest(Entity):
    __slots__ = (
        "replica_id",
        "topics",
    )
    NAME = "OffsetForLeaderEpochRequest"
    VERSIONS = (2, 4)
    FLEXIBLE = 4
    API_KEY = 23
    SCHEMA = (
        Field("replica_id", "int32", (3, 4), ignorable=True, default=-2),
        Field("topics", OffsetForLeaderTopic, (2, 4), array=True),
    )

    def __init__(
        self,
        *,
        replica_id: int = -2,
        topics: Iterable[OffsetForLeaderTopic] = (),
    ) -> None:
        self.replica_id: int = replica_id
        self.topics: list[OffsetForLeaderTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )


class EpochEndOffset(Entity):
    __slots__ = (
        "end_offset",
        "error_code",
        "leader_epoch",
        "partition",
    )
    NAME = "EpochEndOffset"
    VERSIONS = (2, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("error_code", "int16", (2, 4)),
        Field("partition", "int32", (2, 4)),
        Field("leader_epoch", "int32", (2, 4), ignorable=True, default=-1),
        Field("end_offset", "int64", (2, 4), default=-1),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code: int = error_code
        self.partition: int = partition
        self.leader_epoch: int = leader_epoch
        self.end_offset: int = end_offset


class OffsetForLeaderTopicResult(Entity):
    __slots__ = (
        "partitions",
        "topic",
    )
    NAME = "OffsetForLeaderTopicResult"
    VERSIONS = (2, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("topic", "string", (2, 4)),
        Field("partitions", EpochEndOffset, (2, 4), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: Iterable[EpochEndOffset] = (),
    ) -> None:
        self.topic: str = topic
        self.partitions: list[EpochEndOffset] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class OffsetForLeaderEpochResponse(Entity):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    NAME = "OffsetForLeaderEpochResponse"
    VERSIONS = (2, 4)
    FLEXIBLE = 4
    API_KEY = 23
    SCHEMA = (
        Field("throttle_time_ms", "int32", (2, 4), ignorable=True),
        Field("topics", OffsetForLeaderTopicResult, (2, 4), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[OffsetForLeaderTopicResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[OffsetForLeaderTopicResult] = (
            topics if isinstance(topics, list) else list(topics)
        )
