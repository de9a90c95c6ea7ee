"""EndTxn (number 26). Written by tools/generate_protocol.py.

EndTxnRequest 0-5, EndTxnResponse 0-5.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class EndTxnRequest(Entity):
    __slots__ = (
        "committed",
        "producer_epoch",
        "producer_id",
        "transactional_id",
    )
    NAME = "EndTxnRequest"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    API_KEY = 26
    SCHEMA = (
        Field("transactional_id", "string", (0, 5)),
        Field("producer_id", "int64", (0, 5)),
        Field("producer_epoch", "int16", (0, 5)),
        Field("committed", "bool", (0, 5)),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id: str = transactional_id
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.committed: bool = committed


class EndTxnResponse(Entity):
    __slots__ = (
        "error_code",
        "producer_epoch",
        "producer_id",
        "throttle_time_ms",
    )
    NAME = "EndTxnResponse"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    API_KEY = 26
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 5)),
        Field("error_code", "int16", (0, 5)),
        Field("producer_id", "int64", (5, 5), ignorable=True, default=-1),
        Field("producer_epoch", "int16", (5, 5), ignorable=True, default=-1),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
