"""OffsetCommit (number 1). Written by tools/generate_protocol.py.

OffsetCommitKey 0-0, OffsetCommitValue 0-4.
"""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class OffsetCommitKey(Entity):
    __slots__ = (
        "group",
        "partition",
        "topic",
    )
    NAME = "OffsetCommitKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 1
    SCHEMA = (
        Field("group", "string", (0, 0)),
        Field("topic", "string", (0, 0)),
        Field("partition", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group: str = group
        self.topic: str = topic
        self.partition: int = partition


class OffsetCommitValue(Entity):
    __slots__ = (
        "commit_timestamp",
        "expire_timestamp",
        "leader_epoch",
        "metadata",
        "offset",
        "topic_id",
    )
    NAME = "OffsetCommitValue"
    VERSIONS = (0, 4)
    FLEXIBLE = 4
    API_KEY = 1
    SCHEMA = (
        Field("offset", "int64", (0, 4)),
        Field("leader_epoch", "int32", (3, 4), ignorable=True, default=-1),
        Field("metadata", "string", (0, 4)),
        Field("commit_timestamp", "int64", (0, 4)),
        Field("expire_timestamp", "int64", (1, 1), ignorable=True, default=-1),
        Field("topic_id", "uuid", (4, 4), tag=0, tagged=(4, 4), ignorable=True),
    )

    def __init__(
        self,
        *,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_ID,
    ) -> None:
        self.offset: int = offset
        self.leader_epoch: int = leader_epoch
        self.metadata: str = metadata
        self.commit_timestamp: int = commit_timestamp
        self.expire_timestamp: int = expire_timestamp
        self.topic_id: bytes = topic_id
