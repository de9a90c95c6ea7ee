"""ConsumerGroupTargetAssignmentMetadata (number 6). Written by tools/generate_protocol.py.

ConsumerGroupTargetAssignmentMetadataKey 0-0, ConsumerGroupTargetAssignmentMetadataValue 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class ConsumerGroupTargetAssignmentMetadataKey(Entity):
    __slots__ = ("group_id",)
    NAME = "ConsumerGroupTargetAssignmentMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 6
    SCHEMA = (Field("group_id", "string", (0, 0)),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class ConsumerGroupTargetAssignmentMetadataValue(Entity):
    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp",
    )
    NAME = "ConsumerGroupTargetAssignmentMetadataValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 6
    SCHEMA = (
        Field("assignment_epoch", "int32", (0, 0)),
        Field("assignment_timestamp", "int64", (0, 0), tag=0, tagged=(0, 0), ignorable=True),
    )

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
    ) -> None:
        self.assignment_epoch: int = assignment_epoch
        self.assignment_timestamp: int = assignment_timestamp
