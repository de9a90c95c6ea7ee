"""DescribeUserScramCredentials (number 50). Written by tools/generate_protocol.py.

DescribeUserScramCredentialsRequest 0-0, DescribeUserScramCredentialsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class UserName(Entity):
    __slots__ = ("name",)
    NAME = "UserName"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (Field("name", "string", (0, 0)),)

    def __init__(
        self,
        *,
        name: str = "",
    ) -> None:
        self.name: str = name


class DescribeUserScramCredentialsRequest(Entity):
    __slots__ = ("users",)
    NAME = "DescribeUserScramCredentialsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 50
    SCHEMA = (Field("users", UserName, (0, 0), array=True, nullable=(0, 0)),)

    def __init__(
        self,
        *,
        users: Iterable[UserName] | None = (),
    ) -> None:
        self.users: list[UserName] | None = (
            users if users is None or isinstance(users, list) else list(users)
        )


class CredentialInfo(Entity):
    __slots__ = (
        "iterations",
        "mechanism",
    )
    NAME = "CredentialInfo"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("mechanism", "int8", (0, 0)),
        Field("iterations", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism: int = mechanism
        self.iterations: int = iterations


class DescribeUserScramCredentialsResult(Entity):
    __slots__ = (
        "credential_infos",
        "error_code",
        "error_message",
        "user",
    )
    NAME = "DescribeUserScramCredentialsResult"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("user", "string", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0)),
        Field("credential_infos", CredentialInfo, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: Iterable[CredentialInfo] = (),
    ) -> None:
        self.user: str = user
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.credential_infos: list[CredentialInfo] = (
            credential_infos if isinstance(credential_infos, list) else list(credential_infos)
        )


class DescribeUserScramCredentialsResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "results",
        "throttle_time_ms",
    )
    NAME = "DescribeUserScramCredentialsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 50
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0)),
        Field("results", DescribeUserScramCredentialsResult, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Iterable[DescribeUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.results: list[DescribeUserScramCredentialsResult] = (
            results if isinstance(results, list) else list(results)
        )
