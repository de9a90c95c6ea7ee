"""CreateDelegationToken (number 38). Written by tools/generate_protocol.py.

CreateDelegationTokenRequest 1-3, CreateDelegationTokenResponse 1-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class CreatableRenewers(Entity):
    __slots__ = (
        "principal_name",
        "principal_type",
    )
    NAME = "CreatableRenewers"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("principal_type", "string", (1, 3)),
        Field("principal_name", "string", (1, 3)),
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type: str = principal_type
        self.principal_name: str = principal_name


class CreateDelegationTokenRequest(Entity):
    __slots__ = (
        "max_lifetime_ms",
        "owner_principal_name",
        "owner_principal_type",
        "renewers",
    )
    NAME = "CreateDelegationTokenRequest"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 38
    SCHEMA = (
        Field("owner_principal_type", "string", (3, 3), nullable=(3, 3)),
        Field("owner_principal_name", "string", (3, 3), nullable=(3, 3)),
        Field("renewers", CreatableRenewers, (1, 3), array=True),
        Field("max_lifetime_ms", "int64", (1, 3)),
    )

    def __init__(
        self,
        *,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: Iterable[CreatableRenewers] = (),
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type: str | None = owner_principal_type
        self.owner_principal_name: str | None = owner_principal_name
        self.renewers: list[CreatableRenewers] = (
            renewers if isinstance(renewers, list) else list(renewers)
        )
        self.max_lifetime_ms: int = max_lifetime_ms


class CreateDelegationTokenResponse(Entity):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "hmac",
        "issue_timestamp_ms",
        "max_timestamp_ms",
        "principal_name",
        "principal_type",
        "throttle_time_ms",
        "token_id",
        "token_requester_principal_name",
        "token_requester_principal_type",
    )
    NAME = "CreateDelegationTokenResponse"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 38
    SCHEMA = (
        Field("error_code", "int16", (1, 3)),
        Field("principal_type", "string", (1, 3)),
        Field("principal_name", "string", (1, 3)),
        Field("token_requester_principal_type", "string", (3, 3)),
        Field("token_requester_principal_name", "string", (3, 3)),
        Field("issue_timestamp_ms", "int64", (1, 3)),
        Field("expiry_timestamp_ms", "int64", (1, 3)),
        Field("max_timestamp_ms", "int64", (1, 3)),
        Field("token_id", "string", (1, 3)),
        Field("hmac", "bytes", (1, 3)),
        Field("throttle_time_ms", "int32", (1, 3)),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.principal_type: str = principal_type
        self.principal_name: str = principal_name
        self.token_requester_principal_type: str = token_requester_principal_type
        self.token_requester_principal_name: str = token_requester_principal_name
        self.issue_timestamp_ms: int = issue_timestamp_ms
        self.expiry_timestamp_ms: int = expiry_timestamp_ms
        self.max_timestamp_ms: int = max_timestamp_ms
        self.token_id: str = token_id
        self.hmac: bytes = hmac
        self.throttle_time_ms: int = throttle_time_ms
