"""DescribeDelegationToken (number 41). Written by tools/generate_protocol.py.

DescribeDelegationTokenRequest 1-3, DescribeDelegationTokenResponse 1-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DescribeDelegationTokenOwner(Entity):
    __slots__ = (
        "principal_name",
        "principal_type",
    )
    NAME = "DescribeDelegationTokenOwner"
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


class DescribeDelegationTokenRequest(Entity):
    __slots__ = ("owners",)
    NAME = "DescribeDelegationTokenRequest"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 41
    SCHEMA = (Field("owners", DescribeDelegationTokenOwner, (1, 3), array=True, nullable=(1, 3)),)

    def __init__(
        self,
        *,
        owners: Iterable[DescribeDelegationTokenOwner] | None = (),
    ) -> None:
        self.owners: list[DescribeDelegationTokenOwner] | None = (
            owners if owners is None or isinstance(owners, list) else list(owners)
        )


class DescribedDelegationTokenRenewer(Entity):
    __slots__ = (
        "principal_name",
        "principal_type",
    )
    NAME = "DescribedDelegationTokenRenewer"
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


class DescribedDelegationToken(Entity):
    __slots__ = (
        "expiry_timestamp",
        "hmac",
        "issue_timestamp",
        "max_timestamp",
        "principal_name",
        "principal_type",
        "renewers",
        "token_id",
        "token_requester_principal_name",
        "token_requester_principal_type",
    )
    NAME = "DescribedDelegationToken"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("principal_type", "string", (1, 3)),
        Field("principal_name", "string", (1, 3)),
        Field("token_requester_principal_type", "string", (3, 3)),
        Field("token_requester_principal_name", "string", (3, 3)),
        Field("issue_timestamp", "int64", (1, 3)),
        Field("expiry_timestamp", "int64", (1, 3)),
        Field("max_timestamp", "int64", (1, 3)),
        Field("token_id", "string", (1, 3)),
        Field("hmac", "bytes", (1, 3)),
        Field("renewers", DescribedDelegationTokenRenewer, (1, 3), array=True),
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: Iterable[DescribedDelegationTokenRenewer] = (),
    ) -> None:
        self.principal_type: str = principal_type
        self.principal_name: str = principal_name
        self.token_requester_principal_type: str = token_requester_principal_type
        self.token_requester_principal_name: str = token_requester_principal_name
        self.issue_timestamp: int = issue_timestamp
        self.expiry_timestamp: int = expiry_timestamp
        self.max_timestamp: int = max_timestamp
        self.token_id: str = token_id
        self.hmac: bytes = hmac
        self.renewers: list[DescribedDelegationTokenRenewer] = (
            renewers if isinstance(renewers, list) else list(renewers)
        )


class DescribeDelegationTokenResponse(Entity):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "tokens",
    )
    NAME = "DescribeDelegationTokenResponse"
    VERSIONS = (1, 3)
    FLEXIBLE = 2
    API_KEY = 41
    SCHEMA = (
        Field("error_code", "int16", (1, 3)),
        Field("tokens", DescribedDelegationToken, (1, 3), array=True),
        Field("throttle_time_ms", "int32", (1, 3)),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        tokens: Iterable[DescribedDelegationToken] = (),
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.tokens: list[DescribedDelegationToken] = (
            tokens if isinstance(tokens, list) else list(tokens)
        )
        self.throttle_time_ms: int = throttle_time_ms
