"""ConsumerGroupPartitionMetadata (number 4). Written by tools/generate_protocol.py.

ConsumerGroupPartitionMetadataKey 0-0, ConsumerGroupPartitionMetadataValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ConsumerGroupPartitionMetadataKey(Entity):
    __slots__ = ("group_id",)
    NAME = "ConsumerGroupPartitionMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 4
    SCHEMA = (Field("group_id", "string", (0, 0)),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class PartitionMetadata(Entity):
    __slots__ = (
        "partition",
        "racks",
    )
    NAME = "PartitionMetadata"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 0)),
        Field("racks", "string", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        racks: Iterable[str] = (),
    ) -> None:
        self.partition: int = partition
        self.racks: list[str] = racks if isinstance(racks, list) else list(racks)


class TopicMetadata(Entity):
    __slots__ = (
        "num_partitions",
        "partition_metadata",
        "topic_id",
        "topic_name",
    )
    NAME = "TopicMetadata"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("topic_name", "string", (0, 0)),
        Field("num_partitions", "int32", (0, 0)),
        Field("partition_metadata", PartitionMetadata, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: Iterable[PartitionMetadata] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.topic_name: str = topic_name
        self.num_partitions: int = num_partitions
        self.partition_metadata: list[PartitionMetadata] = (
            partition_metadata if isinstance(partition_metadata, list) else list(partition_metadata)
        )


class ConsumerGroupPartitionMetadataValue(Entity):
    __slots__ = ("topics",)
    NAME = "ConsumerGroupPartitionMetadataValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 4
    SCHEMA = (Field("topics", TopicMetadata, (0, 0), array=True),)

    def __init__(
        self,
        *,
        topics: Iterable[TopicMetadata] = (),
    ) -> None:
        self.topics: list[TopicMetadata] = topics if isinstance(topics, list) else list(topics)
