"""ConsumerGroupHeartbeat (number 68). Written by tools/generate_protocol.py.

ConsumerGroupHeartbeatRequest 0-1, ConsumerGroupHeartbeatResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class RequestTopicPartitions(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "RequestTopicPartitions"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 1)),
        Field("partitions", "int32", (0, 1), array=True),
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


class ConsumerGroupHeartbeatRequest(Entity):
    __slots__ = (
        "group_id",
        "instance_id",
        "member_epoch",
        "member_id",
        "rack_id",
        "rebalance_timeout_ms",
        "server_assignor",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "topic_partitions",
    )
    NAME = "ConsumerGroupHeartbeatRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 68
    SCHEMA = (
        Field("group_id", "string", (0, 1)),
        Field("member_id", "string", (0, 1)),
        Field("member_epoch", "int32", (0, 1)),
        Field("instance_id", "string", (0, 1), nullable=(0, 1), default=None),
        Field("rack_id", "string", (0, 1), nullable=(0, 1), default=None),
        Field("rebalance_timeout_ms", "int32", (0, 1), default=-1),
        Field(
            "subscribed_topic_names", "string", (0, 1), array=True, nullable=(0, 1), default=None
        ),
        Field("subscribed_topic_regex", "string", (1, 1), nullable=(1, 1), default=None),
        Field("server_assignor", "string", (0, 1), nullable=(0, 1), default=None),
        Field(
            "topic_partitions",
            RequestTopicPartitions,
            (0, 1),
            array=True,
            nullable=(0, 1),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: Iterable[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: Iterable[RequestTopicPartitions] | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.subscribed_topic_names: list[str] | None = (
            subscribed_topic_names
            if subscribed_topic_names is None or isinstance(subscribed_topic_names, list)
            else list(subscribed_topic_names)
        )
        self.subscribed_topic_regex: str | None = subscribed_topic_regex
        self.server_assignor: str | None = server_assignor
        self.topic_partitions: list[RequestTopicPartitions] | None = (
            topic_partitions
            if topic_partitions is None or isinstance(topic_partitions, list)
            else list(topic_partitions)
        )


class ResponseTopicPartitions(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ResponseTopicPartitions"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 1)),
        Field("partitions", "int32", (0, 1), array=True),
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
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (Field("topic_partitions", ResponseTopicPartitions, (0, 1), array=True),)

    def __init__(
        self,
        *,
        topic_partitions: Iterable[ResponseTopicPartitions] = (),
    ) -> None:
        self.topic_partitions: list[ResponseTopicPartitions] = (
            topic_partitions if isinstance(topic_partitions, list) else list(topic_partitions)
        )


class ConsumerGroupHeartbeatResponse(Entity):
    __slots__ = (
        "assignment",
        "error_code",
        "error_message",
        "heartbeat_interval_ms",
        "member_epoch",
        "member_id",
        "throttle_time_ms",
    )
    NAME = "ConsumerGroupHeartbeatResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 68
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1), default=None),
        Field("member_id", "string", (0, 1), nullable=(0, 1), default=None),
        Field("member_epoch", "int32", (0, 1)),
        Field("heartbeat_interval_ms", "int32", (0, 1)),
        Field("assignment", Assignment, (0, 1), nullable=(0, 1), default=None),
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
