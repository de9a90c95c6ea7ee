"""ConsumerGroupMetadata (number 3). Written by tools/generate_protocol.py.

ConsumerGroupMetadataKey 0-0, ConsumerGroupMetadataValue 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class ConsumerGroupMetadataKey(Entity):
    __slots__ = ("group_id",)
    NAME = "ConsumerGroupMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 3
    SCHEMA = (Field("group_id", "string", (0, 0)),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class ConsumerGroupMetadataValue(Entity):
    __slots__ = (
        "epoch",
        "metadata_hash",
    )
    NAME = "ConsumerGroupMetadataValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 3
    SCHEMA = (
        Field("epoch", "int32", (0, 0)),
        Field("metadata_hash", "int64", (0, 0), tag=0, tagged=(0, 0)),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch: int = epoch
        self.metadata_hash: int = metadata_hash
