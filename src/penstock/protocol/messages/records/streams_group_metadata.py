"""StreamsGroupMetadata (number 17). Written by tools/generate_protocol.py.

StreamsGroupMetadataKey 0-0, StreamsGroupMetadataValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class StreamsGroupMetadataKey(Entity):
    __slots__ = ("group_id",)
    NAME = "StreamsGroupMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 17
    SCHEMA = (Field("group_id", "string", (0, 0)),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class LastAssignmentConfig(Entity):
    __slots__ = (
        "key",
        "value",
    )
    NAME = "LastAssignmentConfig"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("key", "string", (0, 0)),
        Field("value", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key: str = key
        self.value: str = value


class StreamsGroupMetadataValue(Entity):
    __slots__ = (
        "epoch",
        "last_assignment_configs",
        "metadata_hash",
        "validated_topology_epoch",
    )
    NAME = "StreamsGroupMetadataValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 17
    SCHEMA = (
        Field("epoch", "int32", (0, 0)),
        Field("metadata_hash", "int64", (0, 0)),
        Field("validated_topology_epoch", "int32", (0, 0), tag=0, tagged=(0, 0), default=-1),
        Field(
            "last_assignment_configs",
            LastAssignmentConfig,
            (0, 0),
            array=True,
            nullable=(0, 0),
            tag=1,
            tagged=(0, 0),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: Iterable[LastAssignmentConfig] | None = None,
    ) -> None:
        self.epoch: int = epoch
        self.metadata_hash: int = metadata_hash
        self.validated_topology_epoch: int = validated_topology_epoch
        self.last_assignment_configs: list[LastAssignmentConfig] | None = (
            last_assignment_configs
            if last_assignment_configs is None or isinstance(last_assignment_configs, list)
            else list(last_assignment_configs)
        )
