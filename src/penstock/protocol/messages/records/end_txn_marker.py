"""EndTxnMarker. Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class EndTxnMarker(Entity):
    __slots__ = ("coordinator_epoch",)
    NAME = "EndTxnMarker"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    SCHEMA = (Field("coordinator_epoch", "int32", (0, 0)),)

    def __init__(
        self,
        *,
        coordinator_epoch: int = 0,
    ) -> None:
        self.coordinator_epoch: int = coordinator_epoch
