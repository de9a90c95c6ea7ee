"""PushTelemetry (number 72). Written by tools/generate_protocol.py.

PushTelemetryRequest 0-0, PushTelemetryResponse 0-0.
"""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class PushTelemetryRequest(Entity):
    __slots__ = (
        "client_instance_id",
        "compression_type",
        "metrics",
        "subscription_id",
        "terminating",
    )
    NAME = "PushTelemetryRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 72
    SCHEMA = (
        Field("client_instance_id", "uuid", (0, 0)),
        Field("subscription_id", "int32", (0, 0)),
        Field("terminating", "bool", (0, 0)),
        Field("compression_type", "int8", (0, 0)),
        Field("metrics", "bytes", (0, 0)),
    )

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_ID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id: bytes = client_instance_id
        self.subscription_id: int = subscription_id
        self.terminating: bool = terminating
        self.compression_type: int = compression_type
        self.metrics: bytes = metrics


class PushTelemetryResponse(Entity):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
    )
    NAME = "PushTelemetryResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 72
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
