"""ExpireDelegationToken (number 40). Written by tools/generate_protocol.py.

ExpireDelegationTokenRequest 1-2, ExpireDelegationTokenResponse 1-2.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class ExpireDelegationTokenRequest(Entity):
    __slots__ = (
        "expiry_time_period_ms",
        "hmac",
    )
    NAME = "ExpireDelegationTokenRequest"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    API_KEY = 40
    SCHEMA = (
        Field("hmac", "bytes", (1, 2)),
        Field("expiry_time_period_ms", "int64", (1, 2)),
    )

    def __init__(
        self,
        *,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
    ) -> None:
        self.hmac: bytes = hmac
        self.expiry_time_period_ms: int = expiry_time_period_ms


class ExpireDelegationTokenResponse(Entity):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
    )
    NAME = "ExpireDelegationTokenResponse"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    API_KEY = 40
    SCHEMA = (
        Field("error_code", "int16", (1, 2)),
        Field("expiry_timestamp_ms", "int64", (1, 2)),
        Field("throttle_time_ms", "int32", (1, 2)),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.expiry_timestamp_ms: int = expiry_timestamp_ms
        self.throttle_time_ms: int = throttle_time_ms
