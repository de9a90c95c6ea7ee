"""FeatureLevelRecord (number 12). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class FeatureLevelRecord(Entity):
    __slots__ = (
        "feature_level",
        "name",
    )
    NAME = "FeatureLevelRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 12
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("feature_level", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        feature_level: int = 0,
    ) -> None:
        self.name: str = name
        self.feature_level: int = feature_level
