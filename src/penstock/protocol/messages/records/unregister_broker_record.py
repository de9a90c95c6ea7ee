"""UnregisterBrokerRecord (number 1). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class UnregisterBrokerRecord(Entity):
    __slots__ = (
        "broker_epoch",
        "broker_id",
    )
    NAME = "UnregisterBrokerRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 1
    SCHEMA = (
        Field("broker_id", "int32", (0, 0)),
        Field("broker_epoch", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
