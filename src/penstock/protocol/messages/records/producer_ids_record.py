"""ProducerIdsRecord (number 15). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class ProducerIdsRecord(Entity):
    __slots__ = (
        "broker_epoch",
        "broker_id",
        "next_producer_id",
    )
    NAME = "ProducerIdsRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 15
    SCHEMA = (
        Field("broker_id", "int32", (0, 0)),
        Field("broker_epoch", "int64", (0, 0), default=-1),
        Field("next_producer_id", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        next_producer_id: int = 0,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.next_producer_id: int = next_producer_id
