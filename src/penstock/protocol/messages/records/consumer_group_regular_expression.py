"""ConsumerGroupRegularExpression (number 16). Written by tools/generate_protocol.py.

ConsumerGroupRegularExpressionKey 0-0, ConsumerGroupRegularExpressionValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ConsumerGroupRegularExpressionKey(Entity):
    __slots__ = (
        "group_id",
        "regular_expression",
    )
    NAME = "ConsumerGroupRegularExpressionKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 16
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("regular_expression", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        regular_expression: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.regular_expression: str = regular_expression


class ConsumerGroupRegularExpressionValue(Entity):
    __slots__ = (
        "timestamp",
        "topics",
        "version",
    )
    NAME = "ConsumerGroupRegularExpressionValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 16
    SCHEMA = (
        Field("topics", "string", (0, 0), array=True),
        Field("version", "int64", (0, 0)),
        Field("timestamp", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        topics: Iterable[str] = (),
        version: int = 0,
        timestamp: int = 0,
    ) -> None:
        self.topics: list[str] = topics if isinstance(topics, list) else list(topics)
        self.version: int = version
        self.timestamp: int = timestamp
