"""AddRaftVoter (number 80). Written by tools/generate_protocol.py.

AddRaftVoterRequest 0-1, AddRaftVoterResponse 0-1.
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
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 1)),
        Field("host", "string", (0, 1)),
        Field("port", "uint16", (0, 1)),
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


class AddRaftVoterRequest(Entity):
    __slots__ = (
        "ack_when_committed",
        "cluster_id",
        "listeners",
        "timeout_ms",
        "voter_directory_id",
        "voter_id",
    )
    NAME = "AddRaftVoterRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 80
    SCHEMA = (
        Field("cluster_id", "string", (0, 1), nullable=(0, 1)),
        Field("timeout_ms", "int32", (0, 1)),
        Field("voter_id", "int32", (0, 1)),
        Field("voter_directory_id", "uuid", (0, 1)),
        Field("listeners", Listener, (0, 1), array=True),
        Field("ack_when_committed", "bool", (1, 1), default=True),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_ID,
        listeners: Iterable[Listener] = (),
        ack_when_committed: bool = True,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.timeout_ms: int = timeout_ms
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id
        self.listeners: list[Listener] = (
            listeners if isinstance(listeners, list) else list(listeners)
        )
        self.ack_when_committed: bool = ack_when_committed


class AddRaftVoterResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    NAME = "AddRaftVoterResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 80
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1), ignorable=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
