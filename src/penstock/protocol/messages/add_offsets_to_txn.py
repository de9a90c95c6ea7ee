"""AddOffsetsToTxn (number 25). Written by tools/generate_protocol.py.

AddOffsetsToTxnRequest 0-4, AddOffsetsToTxnResponse 0-4.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class AddOffsetsToTxnRequest(Entity):
    __slots__ = (
        "group_id",
        "producer_epoch",
        "producer_id",
        "transactional_id",
    )
    NAME = "AddOffsetsToTxnRequest"
    VERSIONS = (0, 4)
    FLEXIBLE = 3
    API_KEY = 25
    SCHEMA = (
        Field("transactional_id", "string", (0, 4)),
        Field("producer_id", "int64", (0, 4)),
        Field("producer_epoch", "int16", (0, 4)),
        Field("group_id", "string", (0, 4)),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
    ) -> None:
        self.transactional_id: str = transactional_id
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.group_id: str = group_id


class AddOffsetsToTxnResponse(Entity):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
    )
    NAME = "AddOffsetsToTxnResponse"
    VERSIONS = (0, 4)
    FLEXIBLE = 3
    API_KEY = 25
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 4)),
        Field("error_code", "int16", (0, 4)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
