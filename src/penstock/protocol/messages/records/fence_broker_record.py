"""FenceBrokerRecord (number 7). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class FenceBrokerRecord(Entity):
    __slots__ = (
        "epoch",
        "id",
    )
    NAME = "FenceBrokerRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 7
    SCHEMA = (
        Field("id", "int32", (0, 0)),
        Field("epoch", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
    ) -> None:
        self.id: int = id
        self.epoch: int = epoch
