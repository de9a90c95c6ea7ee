"""AlterUserScramCredentials (number 51). Written by tools/generate_protocol.py.

AlterUserScramCredentialsRequest 0-0, AlterUserScramCredentialsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ScramCredentialDeletion(Entity):
    __slots__ = (
        "mechanism",
        "name",
    )
    NAME = "ScramCredentialDeletion"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("mechanism", "int8", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism


class ScramCredentialUpsertion(Entity):
    __slots__ = (
        "iterations",
        "mechanism",
        "name",
        "salt",
        "salted_password",
    )
    NAME = "ScramCredentialUpsertion"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("mechanism", "int8", (0, 0)),
        Field("iterations", "int32", (0, 0)),
        Field("salt", "bytes", (0, 0)),
        Field("salted_password", "bytes", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism
        self.iterations: int = iterations
        self.salt: bytes = salt
        self.salted_password: bytes = salted_password


class AlterUserScramCredentialsRequest(Entity):
    __slots__ = (
        "deletions",
        "upsertions",
    )
    NAME = "AlterUserScramCredentialsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 51
    SCHEMA = (
        Field("deletions", ScramCredentialDeletion, (0, 0), array=True),
        Field("upsertions", ScramCredentialUpsertion, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        deletions: Iterable[ScramCredentialDeletion] = (),
        upsertions: Iterable[ScramCredentialUpsertion] = (),
    ) -> None:
        self.deletions: list[ScramCredentialDeletion] = (
            deletions if isinstance(deletions, list) else list(deletions)
        )
        self.upsertions: list[ScramCredentialUpsertion] = (
            upsertions if isinstance(upsertions, list) else list(upsertions)
        )


class AlterUserScramCredentialsResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "user",
    )
    NAME = "AlterUserScramCredentialsResult"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("user", "string", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0)),
    )

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user: str = user
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class AlterUserScramCredentialsResponse(Entity):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    NAME = "AlterUserScramCredentialsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 51
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("results", AlterUserScramCredentialsResult, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Iterable[AlterUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[AlterUserScramCredentialsResult] = (
            results if isinstance(results, list) else list(results)
        )
