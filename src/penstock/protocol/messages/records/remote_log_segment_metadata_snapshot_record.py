"""RemoteLogSegmentMetadataSnapshotRecord (number 3). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


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


class RemoteLogSegmentMetadataSnapshotRecord(Entity):
    __slots__ = (
        "broker_id",
        "custom_metadata",
        "end_offset",
        "event_timestamp_ms",
        "max_timestamp_ms",
        "remote_log_segment_state",
        "segment_id",
        "segment_leader_epochs",
        "segment_size_in_bytes",
        "start_offset",
        "txn_index_empty",
    )
    NAME = "RemoteLogSegmentMetadataSnapshotRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 3
    SCHEMA = (
        Field("segment_id", "uuid", (0, 0)),
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
        segment_id: bytes = ZERO_ID,
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
        self.segment_id: bytes = segment_id
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
