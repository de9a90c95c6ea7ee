"""ConsumerGroupTargetAssignmentMember (number 7). Written by tools/generate_protocol.py.

ConsumerGroupTargetAssignmentMemberKey 0-0, ConsumerGroupTargetAssignmentMemberValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ConsumerGroupTargetAssignmentMemberKey(Entity):
    __slots__ = (
        "group_id",
        "member_id",
    )
    NAME = "ConsumerGroupTargetAssignmentMemberKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 7
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("member_id", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class TopicPartition(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "TopicPartition"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("partitions", "int32", (0, 0), array=True),
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


class ConsumerGroupTargetAssignmentMemberValue(Entity):
    __slots__ = ("topic_partitions",)
    NAME = "ConsumerGroupTargetAssignmentMemberValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 7
    SCHEMA = (Field("topic_partitions", TopicPartition, (0, 0), array=True),)

    def __init__(
        self,
        *,
        topic_partitions: Iterable[TopicPartition] = (),
    ) -> None:
        self.topic_partitions: list[TopicPartition] = (
            topic_partitions if isinstance(topic_partitions, list) else list(topic_partitions)
        )
