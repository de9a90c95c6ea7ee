"""RemoteLogSegmentMetadataRecord (number 0). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

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


class SegmentLeaderEpochEntry(Entity):
    __slots__ = (
        "leader_epoch",
        "offset",
    )
    NAME = "SegmentLeaderEpochEntry"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("leader_epoch", "int32", (0, 0)),
        Field("offset", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        leader_epoch: int = 0,
        offset: int = 0,
    ) -> None:
        self.leader_epoch: int = leader_epoch
        self.offset: int = offset


class RemoteLogSegmentMetadataRecord(Entity):
    __slots__ = (
        "broker_id",
        "custom_metadata",
        "end_offset",
        "event_timestamp_ms",
        "max_timestamp_ms",
        "remote_log_segment_id",
        "remote_log_segment_state",
        "segment_leader_epochs",
        "segment_size_in_bytes",
        "start_offset",
        "txn_index_empty",
    )
    NAME = "RemoteLogSegmentMetadataRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 0
    SCHEMA = (
        Field("remote_log_segment_id", RemoteLogSegmentIdEntry, (0, 0)),
        Field("start_offset", "int64", (0, 0)),
        Field("end_offset", "int64", (0, 0)),
        Field("broker_id", "int32", (0, 0)),
        Field("max_timestamp_ms", "int64", (0, 0)),
        Field("event_timestamp_ms", "int64", (0, 0)),
        Field("segment_leader_epochs", SegmentLeaderEpochEntry, (0, 0), array=True),
        Field("segment_size_in_bytes", "int32", (0, 0)),
        Field("custom_metadata", "bytes", (0, 0), nullable=(0, 0), default=None),
        Field("remote_log_segment_state", "int8", (0, 0)),
        Field("txn_index_empty", "bool", (0, 0), tag=0, tagged=(0, 0)),
    )

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentIdEntry | None = None,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: Iterable[SegmentLeaderEpochEntry] = (),
        segment_size_in_bytes: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
    ) -> None:
        self.remote_log_segment_id: RemoteLogSegmentIdEntry = (
            RemoteLogSegmentIdEntry() if remote_log_segment_id is None else remote_log_segment_id
        )
        self.start_offset: int = start_offset
        self.end_offset: int = end_offset
        self.broker_id: int = broker_id
        self.max_timestamp_ms: int = max_timestamp_ms
        self.event_timestamp_ms: int = event_timestamp_ms
        self.segment_leader_epochs: list[SegmentLeaderEpochEntry] = (
            segment_leader_epochs
            if isinstance(segment_leader_epochs, list)
            else list(segment_leader_epochs)
        )
        self.segment_size_in_bytes: int = segment_size_in_bytes
        self.custom_metadata: bytes | None = custom_metadata
        self.remote_log_segment_state: int = remote_log_segment_state
        self.txn_index_empty: bool = txn_index_empty
