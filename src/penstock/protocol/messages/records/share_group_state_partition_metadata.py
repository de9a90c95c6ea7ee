"""ShareGroupStatePartitionMetadata (number 15). Written by tools/generate_protocol.py.

ShareGroupStatePartitionMetadataKey 0-0, ShareGroupStatePartitionMetadataValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ShareGroupStatePartitionMetadataKey(Entity):
    __slots__ = ("group_id",)
    NAME = "ShareGroupStatePartitionMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 15
    SCHEMA = (Field("group_id", "string", (0, 0)),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class TopicPartitionsInfo(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    NAME = "TopicPartitionsInfo"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("topic_name", "string", (0, 0)),
        Field("partitions", "int32", (0, 0), array=True),
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


class TopicInfo(Entity):
    __slots__ = (
        "topic_id",
        "topic_name",
    )
    NAME = "TopicInfo"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id", "uuid", (0, 0)),
        Field("topic_name", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        topic_name: str = "",
    ) -> None:
        self.topic_id: bytes = topic_id
        self.topic_name: str = topic_name


class ShareGroupStatePartitionMetadataValue(Entity):
    __slots__ = (
        "deleting_topics",
        "initialized_topics",
        "initializing_topics",
    )
    NAME = "ShareGroupStatePartitionMetadataValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 15
    SCHEMA = (
        Field("initializing_topics", TopicPartitionsInfo, (0, 0), array=True),
        Field("initialized_topics", TopicPartitionsInfo, (0, 0), array=True),
        Field("deleting_topics", TopicInfo, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        initializing_topics: Iterable[TopicPartitionsInfo] = (),
        initialized_topics: Iterable[TopicPartitionsInfo] = (),
        deleting_topics: Iterable[TopicInfo] = (),
    ) -> None:
        self.initializing_topics: list[TopicPartitionsInfo] = (
            initializing_topics
            if isinstance(initializing_topics, list)
            else list(initializing_topics)
        )
        self.initialized_topics: list[TopicPartitionsInfo] = (
            initialized_topics if isinstance(initialized_topics, list) else list(initialized_topics)
        )
        self.deleting_topics: list[TopicInfo] = (
            deleting_topics if isinstance(deleting_topics, list) else list(deleting_topics)
        )
