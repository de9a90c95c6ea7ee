"""RemoveRaftVoter (number 81). Written by tools/generate_protocol.py.

RemoveRaftVoterRequest 0-0, RemoveRaftVoterResponse 0-0.
"""

from __future__ import annotations

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class RemoveRaftVoterRequest(Entity):
    __slots__ = (
        "cluster_id",
        "voter_directory_id",
        "voter_id",
    )
    NAME = "RemoveRaftVoterRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 81
    SCHEMA = (
        Field("cluster_id", "string", (0, 0), nullable=(0, 0)),
        Field("voter_id", "int32", (0, 0)),
        Field("voter_directory_id", "uuid", (0, 0)),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_ID,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id


class RemoveRaftVoterResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    NAME = "RemoveRaftVoterResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 81
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), ignorable=True),
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
