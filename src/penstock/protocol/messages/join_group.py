"""JoinGroup (number 11). Written by tools/generate_protocol.py.

JoinGroupRequest 0-9, JoinGroupResponse 0-9.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class JoinGroupRequestProtocol(Entity):
    __slots__ = (
        "metadata",
        "name",
    )
    NAME = "JoinGroupRequestProtocol"
    VERSIONS = (0, 9)
    FLEXIBLE = 6
    SCHEMA = (
        Field("name", "string", (0, 9)),
        Field("metadata", "bytes", (0, 9)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name: str = name
        self.metadata: bytes = metadata


class JoinGroupRequest(Entity):
    __slots__ = (
        "group_id",
        "group_instance_id",
        "member_id",
        "protocol_type",
        "protocols",
        "reason",
        "rebalance_timeout_ms",
        "session_timeout_ms",
    )
    NAME = "JoinGroupRequest"
    VERSIONS = (0, 9)
    FLEXIBLE = 6
    API_KEY = 11
    SCHEMA = (
        Field("group_id", "string", (0, 9)),
        Field("session_timeout_ms", "int32", (0, 9)),
        Field("rebalance_timeout_ms", "int32", (1, 9), ignorable=True, default=-1),
        Field("member_id", "string", (0, 9)),
        Field("group_instance_id", "string", (5, 9), nullable=(5, 9), default=None),
        Field("protocol_type", "string", (0, 9)),
        Field("protocols", JoinGroupRequestProtocol, (0, 9), array=True),
        Field("reason", "string", (8, 9), nullable=(8, 9), ignorable=True, default=None),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: Iterable[JoinGroupRequestProtocol] = (),
        reason: str | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.session_timeout_ms: int = session_timeout_ms
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.protocol_type: str = protocol_type
        self.protocols: list[JoinGroupRequestProtocol] = (
            protocols if isinstance(protocols, list) else list(protocols)
        )
        self.reason: str | None = reason


class JoinGroupResponseMember(Entity):
    __slots__ = (
        "group_instance_id",
        "member_id",
        "metadata",
    )
    NAME = "JoinGroupResponseMember"
    VERSIONS = (0, 9)
    FLEXIBLE = 6
    SCHEMA = (
        Field("member_id", "string", (0, 9)),
        Field("group_instance_id", "string", (5, 9), nullable=(5, 9), ignorable=True, default=None),
        Field("metadata", "bytes", (0, 9)),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.metadata: bytes = metadata


class JoinGroupResponse(Entity):
    __slots__ = (
        "error_code",
        "generation_id",
        "leader",
        "member_id",
        "members",
        "protocol_name",
        "protocol_type",
        "skip_assignment",
        "throttle_time_ms",
    )
    NAME = "JoinGroupResponse"
    VERSIONS = (0, 9)
    FLEXIBLE = 6
    API_KEY = 11
    SCHEMA = (
        Field("throttle_time_ms", "int32", (2, 9), ignorable=True),
        Field("error_code", "int16", (0, 9)),
        Field("generation_id", "int32", (0, 9), default=-1),
        Field("protocol_type", "string", (7, 9), nullable=(7, 9), ignorable=True, default=None),
        Field("protocol_name", "string", (0, 9), nullable=(7, 9)),
        Field("leader", "string", (0, 9)),
        Field("skip_assignment", "bool", (9, 9)),
        Field("member_id", "string", (0, 9)),
        Field("members", JoinGroupResponseMember, (0, 9), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: Iterable[JoinGroupResponseMember] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.generation_id: int = generation_id
        self.protocol_type: str | None = protocol_type
        self.protocol_name: str | None = protocol_name
        self.leader: str = leader
        self.skip_assignment: bool = skip_assignment
        self.member_id: str = member_id
        self.members: list[JoinGroupResponseMember] = (
            members if isinstance(members, list) else list(members)
        )
