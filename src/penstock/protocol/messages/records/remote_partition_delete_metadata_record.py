"""RemotePartitionDeleteMetadataRecord (number 2). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class TopicIdPartitionEntry(Entity):
    __slots__ = (
        "id",
        "name",
        "partition",
    )
    NAME = "TopicIdPartitionEntry"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("id", "uuid", (0, 0)),
        Field("partition", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        id: bytes = ZERO_ID,
        partition: int = 0,
    ) -> None:
        self.name: str = name
        self.id: bytes = id
        self.partition: int = partition


class RemotePartitionDeleteMetadataRecord(Entity):
    __slots__ = (
        "broker_id",
        "event_timestamp_ms",
        "remote_partition_delete_state",
        "topic_id_partition",
    )
    NAME = "RemotePartitionDeleteMetadataRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 2
    SCHEMA = (
        Field("topic_id_partition", TopicIdPartitionEntry, (0, 0)),
        Field("broker_id", "int32", (0, 0)),
        Field("event_timestamp_ms", "int64", (0, 0)),
        Field("remote_partition_delete_state", "int8", (0, 0)),
    )

    def __init__(
        self,
        *,
        topic_id_partition: TopicIdPartitionEntry | None = None,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        remote_partition_delete_state: int = 0,
    ) -> None:
        self.topic_id_partition: TopicIdPartitionEntry = (
            TopicIdPartitionEntry() if topic_id_partition is None else topic_id_partition
        )
        self.broker_id: int = broker_id
        self.event_timestamp_ms: int = event_timestamp_ms
        self.remote_partition_delete_state: int = remote_partition_delete_state
