"""InitProducerId (number 22). Written by tools/generate_protocol.py.

InitProducerIdRequest 0-6, InitProducerIdResponse 0-6.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class InitProducerIdRequest(Entity):
    __slots__ = (
        "enable2_pc",
        "keep_prepared_txn",
        "producer_epoch",
        "producer_id",
        "transaction_timeout_ms",
        "transactional_id",
    )
    NAME = "InitProducerIdRequest"
    VERSIONS = (0, 6)
    FLEXIBLE = 2
    API_KEY = 22
    SCHEMA = (
        Field("transactional_id", "string", (0, 6), nullable=(0, 6)),
        Field("transaction_timeout_ms", "int32", (0, 6)),
        Field("producer_id", "int64", (3, 6), default=-1),
        Field("producer_epoch", "int16", (3, 6), default=-1),
        Field("enable2_pc", "bool", (6, 6)),
        Field("keep_prepared_txn", "bool", (6, 6)),
    )

    def __init__(
        self,
        *,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
    ) -> None:
        self.transactional_id: str | None = transactional_id
        self.transaction_timeout_ms: int = transaction_timeout_ms
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.enable2_pc: bool = enable2_pc
        self.keep_prepared_txn: bool = keep_prepared_txn


class InitProducerIdResponse(Entity):
    __slots__ = (
        "error_code",
        "ongoing_txn_producer_epoch",
        "ongoing_txn_producer_id",
        "producer_epoch",
        "producer_id",
        "throttle_time_ms",
    )
    NAME = "InitProducerIdResponse"
    VERSIONS = (0, 6)
    FLEXIBLE = 2
    API_KEY = 22
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 6), ignorable=True),
        Field("error_code", "int16", (0, 6)),
        Field("producer_id", "int64", (0, 6), default=-1),
        Field("producer_epoch", "int16", (0, 6)),
        Field("ongoing_txn_producer_id", "int64", (6, 6), default=-1),
        Field("ongoing_txn_producer_epoch", "int16", (6, 6), default=-1),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.ongoing_txn_producer_id: int = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch: int = ongoing_txn_producer_epoch
