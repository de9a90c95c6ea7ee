"""BeginTransactionRecord (number 23). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class BeginTransactionRecord(Entity):
    __slots__ = ("name",)
    NAME = "BeginTransactionRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 23
    SCHEMA = (Field("name", "string", (0, 0), nullable=(0, 0), tag=0, tagged=(0, 0), default=None),)

    def __init__(
        self,
        *,
        name: str | None = None,
    ) -> None:
        self.name: str | None = name
