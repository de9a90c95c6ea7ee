"""ShareGroupDescribe (number 77). Written by tools/generate_protocol.py.

ShareGroupDescribeRequest 1-1, ShareGroupDescribeResponse 1-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ShareGroupDescribeRequest(Entity):
    __slots__ = (
        "group_ids",
        "include_authorized_operations",
    )
    NAME = "ShareGroupDescribeRequest"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    API_KEY = 77
    SCHEMA = (
        Field("group_ids", "string", (1, 1), array=True),
        Field("include_authorized_operations", "bool", (1, 1)),
    )

    def __init__(
        self,
        *,
        group_ids: Iterable[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids: list[str] = group_ids if isinstance(group_ids, list) else list(group_ids)
        self.include_authorized_operations: bool = include_authorized_operations


class TopicPartitions(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    NAME = "TopicPartitions"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic_id", "uuid", (1, 1)),
        Field("topic_name", "string", (1, 1)),
        Field("partitions", "int32", (1, 1), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        topic_name: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.topic_name: str = topic_name
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


class Member(Entity):
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "member_epoch",
        "member_id",
        "rack_id",
        "subscribed_topic_names",
    )
    NAME = "Member"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("member_id", "string", (1, 1)),
        Field("rack_id", "string", (1, 1), nullable=(1, 1), default=None),
        Field("member_epoch", "int32", (1, 1)),
        Field("client_id", "string", (1, 1)),
        Field("client_host", "string", (1, 1)),
        Field("subscribed_topic_names", "string", (1, 1), array=True),
        Field("assignment", Assignment, (1, 1)),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Iterable[str] = (),
        assignment: Assignment | None = None,
    ) -> None:
        self.member_id: str = member_id
        self.rack_id: str | None = rack_id
        self.member_epoch: int = member_epoch
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.subscribed_topic_names: list[str] = (
            subscribed_topic_names
            if isinstance(subscribed_topic_names, list)
            else list(subscribed_topic_names)
        )
        self.assignment: Assignment = Assignment() if assignment is None else assignment


class DescribedGroup(Entity):
    __slots__ = (
        "assignment_epoch",
        "assignor_name",
        "authorized_operations",
        "error_code",
        "error_message",
        "group_epoch",
        "group_id",
        "group_state",
        "members",
    )
    NAME = "DescribedGroup"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("error_code", "int16", (1, 1)),
        Field("error_message", "string", (1, 1), nullable=(1, 1), default=None),
        Field("group_id", "string", (1, 1)),
        Field("group_state", "string", (1, 1)),
        Field("group_epoch", "int32", (1, 1)),
        Field("assignment_epoch", "int32", (1, 1)),
        Field("assignor_name", "string", (1, 1)),
        Field("members", Member, (1, 1), array=True),
        Field("authorized_operations", "int32", (1, 1), default=-2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: Iterable[Member] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.group_id: str = group_id
        self.group_state: str = group_state
        self.group_epoch: int = group_epoch
        self.assignment_epoch: int = assignment_epoch
        self.assignor_name: str = assignor_name
        self.members: list[Member] = members if isinstance(members, list) else list(members)
        self.authorized_operations: int = authorized_operations


class ShareGroupDescribeResponse(Entity):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    NAME = "ShareGroupDescribeResponse"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    API_KEY = 77
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 1)),
        Field("groups", DescribedGroup, (1, 1), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Iterable[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[DescribedGroup] = groups if isinstance(groups, list) else list(groups)
