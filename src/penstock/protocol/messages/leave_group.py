"""LeaveGroup (number 13). Written by tools/generate_protocol.py.

LeaveGroupRequest 0-5, LeaveGroupResponse 0-5.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class MemberIdentity(Entity):
    __slots__ = (
        "group_instance_id",
        "member_id",
        "reason",
    )
    NAME = "MemberIdentity"
    VERSIONS = (3, 5)
    FLEXIBLE = 4
    SCHEMA = (
        Field("member_id", "string", (3, 5)),
        Field("group_instance_id", "string", (3, 5), nullable=(3, 5), default=None),
        Field("reason", "string", (5, 5), nullable=(5, 5), ignorable=True, default=None),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.reason: str | None = reason


class LeaveGroupRequest(Entity):
    __slots__ = (
        "group_id",
        "member_id",
        "members",
    )
    NAME = "LeaveGroupRequest"
    VERSIONS = (0, 5)
    FLEXIBLE = 4
    API_KEY = 13
    SCHEMA = (
        Field("group_id", "string", (0, 5)),
        Field("member_id", "string", (0, 2)),
        Field("members", MemberIdentity, (3, 5), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        members: Iterable[MemberIdentity] = (),
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id
        self.members: list[MemberIdentity] = members if isinstance(members, list) else list(members)


class MemberResponse(Entity):
    __slots__ = (
        "error_code",
        "group_instance_id",
        "member_id",
    )
    NAME = "MemberResponse"
    VERSIONS = (3, 5)
    FLEXIBLE = 4
    SCHEMA = (
        Field("member_id", "string", (3, 5)),
        Field("group_instance_id", "string", (3, 5), nullable=(3, 5)),
        Field("error_code", "int16", (3, 5)),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.error_code: int = error_code


class LeaveGroupResponse(Entity):
    __slots__ = (
        "error_code",
        "members",
        "throttle_time_ms",
    )
    NAME = "LeaveGroupResponse"
    VERSIONS = (0, 5)
    FLEXIBLE = 4
    API_KEY = 13
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 5), ignorable=True),
        Field("error_code", "int16", (0, 5)),
        Field("members", MemberResponse, (3, 5), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: Iterable[MemberResponse] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.members: list[MemberResponse] = members if isinstance(members, list) else list(members)
