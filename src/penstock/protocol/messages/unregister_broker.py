"""UnregisterBroker (number 64). Written by tools/generate_protocol.py.

UnregisterBrokerRequest 0-0, UnregisterBrokerResponse 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class UnregisterBrokerRequest(Entity):
    __slots__ = ("broker_id",)
    NAME = "UnregisterBrokerRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 64
    SCHEMA = (Field("broker_id", "int32", (0, 0)),)

    def __init__(
        self,
        *,
        broker_id: int = 0,
    ) -> None:
        self.broker_id: int = broker_id


class UnregisterBrokerResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    NAME = "UnregisterBrokerResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 64
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
