"""RemoteLogSegmentMetadataUpdateRecord (number 1). Written by tools/generate_protocol.py.

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


class RemoteLogSegmentIdEntry(Entity):
    __slots__ = (
        "id",
        "topic_id_partition",
    )
    NAME = "RemoteLogSegmentIdEntry"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_id_partition", TopicIdPartitionEntry, (0, 0)),
        Field("id", "uuid", (0, 0)),
    )

    def __init__(
        self,
        *,
        topic_id_partition: TopicIdPartitionEntry | None = None,
        id: bytes = ZERO_ID,
    ) -> None:
        self.topic_id_partition: TopicIdPartitionEntry = (
            TopicIdPartitionEntry() if topic_id_partition is None else topic_id_partition
        )
        self.id: bytes = id


class RemoteLogSegmentMetadataUpdateRecord(Entity):
    __slots__ = (
        "broker_id",
        "custom_metadata",
        "event_timestamp_ms",
        "remote_log_segment_id",
        "remote_log_segment_state",
    )
    NAME = "RemoteLogSegmentMetadataUpdateRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 1
    SCHEMA = (
        Field("remote_log_segment_id", RemoteLogSegmentIdEntry, (0, 0)),
        Field("broker_id", "int32", (0, 0)),
        Field("event_timestamp_ms", "int64", (0, 0)),
        Field("custom_metadata", "bytes", (0, 0), nullable=(0, 0), default=None),
        Field("remote_log_segment_state", "int8", (0, 0)),
    )

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentIdEntry | None = None,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
    ) -> None:
        self.remote_log_segment_id: RemoteLogSegmentIdEntry = (
            RemoteLogSegmentIdEntry() if remote_log_segment_id is None else remote_log_segment_id
        )
        self.broker_id: int = broker_id
        self.event_timestamp_ms: int = event_timestamp_ms
        self.custom_metadata: bytes | None = custom_metadata
        self.remote_log_segment_state: int = remote_log_segment_state
