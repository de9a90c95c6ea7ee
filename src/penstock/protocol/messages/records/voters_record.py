"""VotersRecord. Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class Endpoint(Entity):
    __slots__ = (
        "host",
        "name",
        "port",
    )
    NAME = "Endpoint"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("host", "string", (0, 0)),
        Field("port", "uint16", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port


class KRaftVersionFeature(Entity):
    __slots__ = (
        "max_supported_version",
        "min_supported_version",
    )
    NAME = "KRaftVersionFeature"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("min_supported_version", "int16", (0, 0)),
        Field("max_supported_version", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.min_supported_version: int = min_supported_version
        self.max_supported_version: int = max_supported_version


class Voter(Entity):
    __slots__ = (
        "endpoints",
        "kraft_version_feature",
        "voter_directory_id",
        "voter_id",
    )
    NAME = "Voter"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("voter_id", "int32", (0, 0)),
        Field("voter_directory_id", "uuid", (0, 0)),
        Field("endpoints", Endpoint, (0, 0), array=True),
        Field("kraft_version_feature", KRaftVersionFeature, (0, 0)),
    )

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_ID,
        endpoints: Iterable[Endpoint] = (),
        kraft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id
        self.endpoints: list[Endpoint] = (
            endpoints if isinstance(endpoints, list) else list(endpoints)
        )
        self.kraft_version_feature: KRaftVersionFeature = (
            KRaftVersionFeature() if kraft_version_feature is None else kraft_version_feature
        )


class VotersRecord(Entity):
    __slots__ = (
        "version",
        "voters",
    )
    NAME = "VotersRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("version", "int16", (0, 0)),
        Field("voters", Voter, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        version: int = 0,
        voters: Iterable[Voter] = (),
    ) -> None:
        self.version: int = version
        self.voters: list[Voter] = voters if isinstance(voters, list) else list(voters)
