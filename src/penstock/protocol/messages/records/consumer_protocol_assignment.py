"""ConsumerProtocolAssignment. Written by tools/generate_protocol.py.

Versions 0-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class TopicPartition(Entity):
    __slots__ = (
        "partitions",
        "topic",
    )
    NAME = "TopicPartition"
    VERSIONS = (0, 3)
    FLEXIBLE = None
    SCHEMA = (
        Field("topic", "string", (0, 3)),
        Field("partitions", "int32", (0, 3), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ConsumerProtocolAssignment(Entity):
    __slots__ = (
        "assigned_partitions",
        "user_data",
    )
    NAME = "ConsumerProtocolAssignment"
    VERSIONS = (0, 3)
    FLEXIBLE = None
    SCHEMA = (
        Field("assigned_partitions", TopicPartition, (0, 3), array=True),
        Field("user_data", "bytes", (0, 3), nullable=(0, 3), default=None),
    )

    def __init__(
        self,
        *,
        assigned_partitions: Iterable[TopicPartition] = (),
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions: list[TopicPartition] = (
            assigned_partitions
            if isinstance(assigned_partitions, list)
            else list(assigned_partitions)
        )
        self.user_data: bytes | None = user_data
