"""LegacyOffsetCommit (number 0). Written by tools/generate_protocol.py.

LegacyOffsetCommitKey 0-0, LegacyOffsetCommitValue 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class LegacyOffsetCommitKey(Entity):
    __slots__ = (
        "group",
        "partition",
        "topic",
    )
    NAME = "LegacyOffsetCommitKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 0
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


class LegacyOffsetCommitValue(Entity):
    __slots__ = (
        "commit_timestamp",
        "metadata",
        "offset",
    )
    NAME = "LegacyOffsetCommitValue"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 0
    SCHEMA = (
        Field("offset", "int64", (0, 0)),
        Field("metadata", "string", (0, 0)),
        Field("commit_timestamp", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
    ) -> None:
        self.offset: int = offset
        self.metadata: str = metadata
        self.commit_timestamp: int = commit_timestamp
