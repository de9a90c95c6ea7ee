"""SyncGroup (number 14). Written by tools/generate_protocol.py.

SyncGroupRequest 0-5, SyncGroupResponse 0-5.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class SyncGroupRequestAssignment(Entity):
    __slots__ = (
        "assignment",
        "member_id",
    )
    NAME = "SyncGroupRequestAssignment"
    VERSIONS = (0, 5)
    FLEXIBLE = 4
    SCHEMA = (
        Field("member_id", "string", (0, 5)),
        Field("assignment", "bytes", (0, 5)),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        assignment: bytes = b"",
    ) -> None:
        self.member_id: str = member_id
        self.assignment: bytes = assignment


class SyncGroupRequest(Entity):
    __slots__ = (
        "assignments",
        "generation_id",
        "group_id",
        "group_instance_id",
        "member_id",
        "protocol_name",
        "protocol_type",
    )
    NAME = "SyncGroupRequest"
    VERSIONS = (0, 5)
    FLEXIBLE = 4
    API_KEY = 14
    SCHEMA = (
        Field("group_id", "string", (0, 5)),
        Field("generation_id", "int32", (0, 5)),
        Field("member_id", "string", (0, 5)),
        Field("group_instance_id", "string", (3, 5), nullable=(3, 5), default=None),
        Field("protocol_type", "string", (5, 5), nullable=(5, 5), ignorable=True, default=None),
        Field("protocol_name", "string", (5, 5), nullable=(5, 5), ignorable=True, default=None),
        Field("assignments", SyncGroupRequestAssignment, (0, 5), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: Iterable[SyncGroupRequestAssignment] = (),
    ) -> None:
        self.group_id: str = group_id
        self.generation_id: int = generation_id
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.protocol_type: str | None = protocol_type
        self.protocol_name: str | None = protocol_name
        self.assignments: list[SyncGroupRequestAssignment] = (
            assignments if isinstance(assignments, list) else list(assignments)
        )


class SyncGroupResponse(Entity):
    __slots__ = (
        "assignment",
        "error_code",
        "protocol_name",
        "protocol_type",
        "throttle_time_ms",
    )
    NAME = "SyncGroupResponse"
    VERSIONS = (0, 5)
    FLEXIBLE = 4
    API_KEY = 14
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 5), ignorable=True),
        Field("error_code", "int16", (0, 5)),
        Field("protocol_type", "string", (5, 5), nullable=(5, 5), ignorable=True, default=None),
        Field("protocol_name", "string", (5, 5), nullable=(5, 5), ignorable=True, default=None),
        Field("assignment", "bytes", (0, 5)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.protocol_type: str | None = protocol_type
        self.protocol_name: str | None = protocol_name
        self.assignment: bytes = assignment
