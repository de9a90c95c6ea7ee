"""GetTelemetrySubscriptions (number 71). Written by tools/generate_protocol.py.

GetTelemetrySubscriptionsRequest 0-0, GetTelemetrySubscriptionsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class GetTelemetrySubscriptionsRequest(Entity):
    __slots__ = ("client_instance_id",)
    NAME = "GetTelemetrySubscriptionsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 71
    SCHEMA = (Field("client_instance_id", "uuid", (0, 0)),)

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_ID,
    ) -> None:
        self.client_instance_id: bytes = client_instance_id


class GetTelemetrySubscriptionsResponse(Entity):
    __slots__ = (
        "accepted_compression_types",
        "client_instance_id",
        "delta_temporality",
        "error_code",
        "push_interval_ms",
        "requested_metrics",
        "subscription_id",
        "telemetry_max_bytes",
        "throttle_time_ms",
    )
    NAME = "GetTelemetrySubscriptionsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 71
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("client_instance_id", "uuid", (0, 0)),
        Field("subscription_id", "int32", (0, 0)),
        Field("accepted_compression_types", "int8", (0, 0), array=True),
        Field("push_interval_ms", "int32", (0, 0)),
        Field("telemetry_max_bytes", "int32", (0, 0)),
        Field("delta_temporality", "bool", (0, 0)),
        Field("requested_metrics", "string", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_ID,
        subscription_id: int = 0,
        accepted_compression_types: Iterable[int] = (),
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: Iterable[str] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.client_instance_id: bytes = client_instance_id
        self.subscription_id: int = subscription_id
        self.accepted_compression_types: list[int] = (
            accepted_compression_types
            if isinstance(accepted_compression_types, list)
            else list(accepted_compression_types)
        )
        self.push_interval_ms: int = push_interval_ms
        self.telemetry_max_bytes: int = telemetry_max_bytes
        self.delta_temporality: bool = delta_temporality
        self.requested_metrics: list[str] = (
            requested_metrics if isinstance(requested_metrics, list) else list(requested_metrics)
        )
