"""ClearElrRecord (number 28). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class ClearElrRecord(Entity):
    __slots__ = ("topic_name",)
    NAME = "ClearElrRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 28
    SCHEMA = (Field("topic_name", "string", (0, 0)),)

    def __init__(
        self,
        *,
        topic_name: str = "",
    ) -> None:
        self.topic_name: str = topic_name
