"""ConsumerGroupCurrentMemberAssignment (number 8). Written by tools/generate_protocol.py.

ConsumerGroupCurrentMemberAssignmentKey 0-0, ConsumerGroupCurrentMemberAssignmentValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ConsumerGroupCurrentMemberAssignmentKey(Entity):
    __slots__ = (
        "group_id",
        "member_id",
    )
    NAME = "ConsumerGroupCurrentMemberAssignmentKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 8
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


class TopicPartitions(Entity):
    __slots__ = (
        "assignment_epochs",
        "partitions",
        "topic_id",
    )
    NAME = "TopicPartitions"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("partitions", "int32", (0, 0), array=True),
        Field(
            "assignment_epochs",
            "int32",
            (0, 0),
            array=True,
            nullable=(0, 0),
            tag=0,
            tagged=(0, 0),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[int] = (),
        assignment_epochs: Iterable[int] | None = None,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )
        self.assignment_epochs: list[int] | None = (
            assignment_epochs
            if assignment_epochs is None or isinstance(assignment_epochs, list)
            else list(assignment_epochs)
        )


class ConsumerGroupCurrentMemberAssignmentValue(Entity):
    __slots__ = (
        "assigned_partitions",
        "member_epoch",
        "partitions_pending_revocation",
        "previous_member_epoch",
        "state",
    )
    NAME = "ConsumerGroupCurrentMemberAssignmentValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 8
    SCHEMA = (
        Field("member_epoch", "int32", (0, 0)),
        Field("previous_member_epoch", "int32", (0, 0)),
        Field("state", "int8", (0, 0)),
        Field("assigned_partitions", TopicPartitions, (0, 0), array=True),
        Field("partitions_pending_revocation", TopicPartitions, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: Iterable[TopicPartitions] = (),
        partitions_pending_revocation: Iterable[TopicPartitions] = (),
    ) -> None:
        self.member_epoch: int = member_epoch
        self.previous_member_epoch: int = previous_member_epoch
        self.state: int = state
        self.assigned_partitions: list[TopicPartitions] = (
            assigned_partitions
            if isinstance(assigned_partitions, list)
            else list(assigned_partitions)
        )
        self.partitions_pending_revocation: list[TopicPartitions] = (
            partitions_pending_revocation
            if isinstance(partitions_pending_revocation, list)
            else list(partitions_pending_revocation)
        )
