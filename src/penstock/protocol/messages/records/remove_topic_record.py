"""RemoveTopicRecord (number 9). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class RemoveTopicRecord(Entity):
    __slots__ = ("topic_id",)
    NAME = "RemoveTopicRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 9
    SCHEMA = (Field("topic_id", "uuid", (0, 0)),)

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
    ) -> None:
        self.topic_id: bytes = topic_id
