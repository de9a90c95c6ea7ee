"""UpdateRaftVoter (number 82). Written by tools/generate_protocol.py.

UpdateRaftVoterRequest 0-0, UpdateRaftVoterResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class Listener(Entity):
    __slots__ = (
        "host",
        "name",
        "port",
    )
    NAME = "Listener"
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


class UpdateRaftVoterRequest(Entity):
    __slots__ = (
        "cluster_id",
        "current_leader_epoch",
        "kraft_version_feature",
        "listeners",
        "voter_directory_id",
        "voter_id",
    )
    NAME = "UpdateRaftVoterRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 82
    SCHEMA = (
        Field("cluster_id", "string", (0, 0), nullable=(0, 0)),
        Field("current_leader_epoch", "int32", (0, 0)),
        Field("voter_id", "int32", (0, 0)),
        Field("voter_directory_id", "uuid", (0, 0)),
        Field("listeners", Listener, (0, 0), array=True),
        Field("kraft_version_feature", KRaftVersionFeature, (0, 0)),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_ID,
        listeners: Iterable[Listener] = (),
        kraft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.current_leader_epoch: int = current_leader_epoch
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id
        self.listeners: list[Listener] = (
            listeners if isinstance(listeners, list) else list(listeners)
        )
        self.kraft_version_feature: KRaftVersionFeature = (
            KRaftVersionFeature() if kraft_version_feature is None else kraft_version_feature
        )


class CurrentLeader(Entity):
    __slots__ = (
        "host",
        "leader_epoch",
        "leader_id",
        "port",
    )
    NAME = "CurrentLeader"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("leader_id", "int32", (0, 0), default=-1),
        Field("leader_epoch", "int32", (0, 0), default=-1),
        Field("host", "string", (0, 0)),
        Field("port", "int32", (0, 0)),
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.host: str = host
        self.port: int = port


class UpdateRaftVoterResponse(Entity):
    __slots__ = (
        "current_leader",
        "error_code",
        "throttle_time_ms",
    )
    NAME = "UpdateRaftVoterResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 82
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("current_leader", CurrentLeader, (0, 0), tag=0, tagged=(0, 0)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.current_leader: CurrentLeader | None = current_leader
