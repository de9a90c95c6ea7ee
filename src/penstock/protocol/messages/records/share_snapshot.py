"""ShareSnapshot (number 0). Written by tools/generate_protocol.py.

ShareSnapshotKey 0-0, ShareSnapshotValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ShareSnapshotKey(Entity):
    __slots__ = (
        "group_id",
        "partition",
        "topic_id",
    )
    NAME = "ShareSnapshotKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 0
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("topic_id", "uuid", (0, 0)),
        Field("partition", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topic_id: bytes = ZERO_ID,
        partition: int = 0,
    ) -> None:
        self.group_id: str = group_id
        self.topic_id: bytes = topic_id
        self.partition: int = partition


class StateBatch(Entity):
    __slots__ = (
        "delivery_count",
        "delivery_state",
        "first_offset",
        "last_offset",
    )
    NAME = "StateBatch"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("first_offset", "int64", (0, 0)),
        Field("last_offset", "int64", (0, 0)),
        Field("delivery_state", "int8", (0, 0)),
        Field("delivery_count", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset: int = first_offset
        self.last_offset: int = last_offset
        self.delivery_state: int = delivery_state
        self.delivery_count: int = delivery_count


class ShareSnapshotValue(Entity):
    __slots__ = (
        "create_timestamp",
        "delivery_complete_count",
        "leader_epoch",
        "snapshot_epoch",
        "start_offset",
        "state_batches",
        "state_epoch",
        "write_timestamp",
    )
    NAME = "ShareSnapshotValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 0
    SCHEMA = (
        Field("snapshot_epoch", "int32", (0, 0)),
        Field("state_epoch", "int32", (0, 0)),
        Field("leader_epoch", "int32", (0, 0)),
        Field("start_offset", "int64", (0, 0)),
        Field("delivery_complete_count", "int32", (0, 0), tag=0, tagged=(0, 0), default=-1),
        Field("create_timestamp", "int64", (0, 0)),
        Field("write_timestamp", "int64", (0, 0)),
        Field("state_batches", StateBatch, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        create_timestamp: int = 0,
        write_timestamp: int = 0,
        state_batches: Iterable[StateBatch] = (),
    ) -> None:
        self.snapshot_epoch: int = snapshot_epoch
        self.state_epoch: int = state_epoch
        self.leader_epoch: int = leader_epoch
        self.start_offset: int = start_offset
        self.delivery_complete_count: int = delivery_complete_count
        self.create_timestamp: int = create_timestamp
        self.write_timestamp: int = write_timestamp
        self.state_batches: list[StateBatch] = (
            state_batches if isinstance(state_batches, list) else list(state_batches)
        )
