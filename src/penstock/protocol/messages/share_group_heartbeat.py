"""ShareGroupHeartbeat (number 76). Written by tools/generate_protocol.py.

ShareGroupHeartbeatRequest 1-1, ShareGroupHeartbeatResponse 1-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ShareGroupHeartbeatRequest(Entity):
    __slots__ = (
        "group_id",
        "member_epoch",
        "member_id",
        "rack_id",
        "subscribed_topic_names",
    )
    NAME = "ShareGroupHeartbeatRequest"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    API_KEY = 76
    SCHEMA = (
        Field("group_id", "string", (1, 1)),
        Field("member_id", "string", (1, 1)),
        Field("member_epoch", "int32", (1, 1)),
        Field("rack_id", "string", (1, 1), nullable=(1, 1), default=None),
        Field(
            "subscribed_topic_names", "string", (1, 1), array=True, nullable=(1, 1), default=None
        ),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: Iterable[str] | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.rack_id: str | None = rack_id
        self.subscribed_topic_names: list[str] | None = (
            subscribed_topic_names
            if subscribed_topic_names is None or isinstance(subscribed_topic_names, list)
            else list(subscribed_topic_names)
        )


class TopicPartitions(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "TopicPartitions"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic_id", "uuid", (1, 1)),
        Field("partitions", "int32", (1, 1), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class Assignment(Entity):
    __slots__ = ("topic_partitions",)
    NAME = "Assignment"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    SCHEMA = (Field("topic_partitions", TopicPartitions, (1, 1), array=True),)

    def __init__(
        self,
        *,
        topic_partitions: Iterable[TopicPartitions] = (),
    ) -> None:
        self.topic_partitions: list[TopicPartitions] = (
            topic_partitions if isinstance(topic_partitions, list) else list(topic_partitions)
        )


class ShareGroupHeartbeatResponse(Entity):
    __slots__ = (
        "assignment",
        "error_code",
        "error_message",
        "heartbeat_interval_ms",
        "member_epoch",
        "member_id",
        "throttle_time_ms",
    )
    NAME = "ShareGroupHeartbeatResponse"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    API_KEY = 76
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 1)),
        Field("error_code", "int16", (1, 1)),
        Field("error_message", "string", (1, 1), nullable=(1, 1), default=None),
        Field("member_id", "string", (1, 1), nullable=(1, 1), default=None),
        Field("member_epoch", "int32", (1, 1)),
        Field("heartbeat_interval_ms", "int32", (1, 1)),
        Field("assignment", Assignment, (1, 1), nullable=(1, 1), default=None),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.member_id: str | None = member_id
        self.member_epoch: int = member_epoch
        self.heartbeat_interval_ms: int = heartbeat_interval_ms
        self.assignment: Assignment | None = assignment
