"""AbortTransactionRecord (number 25). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class AbortTransactionRecord(Entity):
    __slots__ = ("reason",)
    NAME = "AbortTransactionRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 25
    SCHEMA = (
        Field("reason", "string", (0, 0), nullable=(0, 0), tag=0, tagged=(0, 0), default=None),
    )

    def __init__(
        self,
        *,
        reason: str | None = None,
    ) -> None:
        self.reason: str | None = reason
