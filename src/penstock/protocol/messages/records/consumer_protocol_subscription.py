"""ConsumerProtocolSubscription. Written by tools/generate_protocol.py.

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
    VERSIONS = (1, 3)
    FLEXIBLE = None
    SCHEMA = (
        Field("topic", "string", (1, 3)),
        Field("partitions", "int32", (1, 3), array=True),
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


class ConsumerProtocolSubscription(Entity):
    __slots__ = (
        "generation_id",
        "owned_partitions",
        "rack_id",
        "topics",
        "user_data",
    )
    NAME = "ConsumerProtocolSubscription"
    VERSIONS = (0, 3)
    FLEXIBLE = None
    SCHEMA = (
        Field("topics", "string", (0, 3), array=True),
        Field("user_data", "bytes", (0, 3), nullable=(0, 3), default=None),
        Field("owned_partitions", TopicPartition, (1, 3), array=True, ignorable=True),
        Field("generation_id", "int32", (2, 3), ignorable=True, default=-1),
        Field("rack_id", "string", (3, 3), nullable=(3, 3), ignorable=True, default=None),
    )

    def __init__(
        self,
        *,
        topics: Iterable[str] = (),
        user_data: bytes | None = None,
        owned_partitions: Iterable[TopicPartition] = (),
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics: list[str] = topics if isinstance(topics, list) else list(topics)
        self.user_data: bytes | None = user_data
        self.owned_partitions: list[TopicPartition] = (
            owned_partitions if isinstance(owned_partitions, list) else list(owned_partitions)
        )
        self.generation_id: int = generation_id
        self.rack_id: str | None = rack_id
