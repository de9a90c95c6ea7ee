"""RenewDelegationToken (number 39). Written by tools/generate_protocol.py.

RenewDelegationTokenRequest 1-2, RenewDelegationTokenResponse 1-2.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class RenewDelegationTokenRequest(Entity):
    __slots__ = (
        "hmac",
        "renew_period_ms",
    )
    NAME = "RenewDelegationTokenRequest"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    API_KEY = 39
    SCHEMA = (
        Field("hmac", "bytes", (1, 2)),
        Field("renew_period_ms", "int64", (1, 2)),
    )

    def __init__(
        self,
        *,
        hmac: bytes = b"",
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac: bytes = hmac
        self.renew_period_ms: int = renew_period_ms


class RenewDelegationTokenResponse(Entity):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
    )
    NAME = "RenewDelegationTokenResponse"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    API_KEY = 39
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
