"""AllocateProducerIds (number 67). Written by tools/generate_protocol.py.

AllocateProducerIdsRequest 0-0, AllocateProducerIdsResponse 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class AllocateProducerIdsRequest(Entity):
    __slots__ = (
        "broker_epoch",
        "broker_id",
    )
    NAME = "AllocateProducerIdsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 67
    SCHEMA = (
        Field("broker_id", "int32", (0, 0)),
        Field("broker_epoch", "int64", (0, 0), default=-1),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch


class AllocateProducerIdsResponse(Entity):
    __slots__ = (
        "error_code",
        "producer_id_len",
        "producer_id_start",
        "throttle_time_ms",
    )
    NAME = "AllocateProducerIdsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 67
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("producer_id_start", "int64", (0, 0)),
        Field("producer_id_len", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.producer_id_start: int = producer_id_start
        self.producer_id_len: int = producer_id_len
