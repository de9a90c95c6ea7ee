"""TopicRecord (number 2). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class TopicRecord(Entity):
    __slots__ = (
        "name",
        "topic_id",
    )
    NAME = "TopicRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 2
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("topic_id", "uuid", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_ID,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
