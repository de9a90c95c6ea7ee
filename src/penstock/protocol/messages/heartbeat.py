"""Heartbeat (number 12). Written by tools/generate_protocol.py.

HeartbeatRequest 0-4, HeartbeatResponse 0-4.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class HeartbeatRequest(Entity):
    __slots__ = (
        "generation_id",
        "group_id",
        "group_instance_id",
        "member_id",
    )
    NAME = "HeartbeatRequest"
    VERSIONS = (0, 4)
    FLEXIBLE = 4
    API_KEY = 12
    SCHEMA = (
        Field("group_id", "string", (0, 4)),
        Field("generation_id", "int32", (0, 4)),
        Field("member_id", "string", (0, 4)),
        Field("group_instance_id", "string", (3, 4), nullable=(3, 4), default=None),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.generation_id: int = generation_id
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id


class HeartbeatResponse(Entity):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
    )
    NAME = "HeartbeatResponse"
    VERSIONS = (0, 4)
    FLEXIBLE = 4
    API_KEY = 12
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 4), ignorable=True),
        Field("error_code", "int16", (0, 4)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
