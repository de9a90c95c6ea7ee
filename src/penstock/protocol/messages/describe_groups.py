"""DescribeGroups (number 15). Written by tools/generate_protocol.py.

DescribeGroupsRequest 0-6, DescribeGroupsResponse 0-6.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DescribeGroupsRequest(Entity):
    __slots__ = (
        "groups",
        "include_authorized_operations",
    )
    NAME = "DescribeGroupsRequest"
    VERSIONS = (0, 6)
    FLEXIBLE = 5
    API_KEY = 15
    SCHEMA = (
        Field("groups", "string", (0, 6), array=True),
        Field("include_authorized_operations", "bool", (3, 6)),
    )

    def __init__(
        self,
        *,
        groups: Iterable[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups: list[str] = groups if isinstance(groups, list) else list(groups)
        self.include_authorized_operations: bool = include_authorized_operations


class DescribedGroupMember(Entity):
    __slots__ = (
        "client_host",
        "client_id",
        "group_instance_id",
        "member_assignment",
        "member_id",
        "member_metadata",
    )
    NAME = "DescribedGroupMember"
    VERSIONS = (0, 6)
    FLEXIBLE = 5
    SCHEMA = (
        Field("member_id", "string", (0, 6)),
        Field("group_instance_id", "string", (4, 6), nullable=(4, 6), ignorable=True, default=None),
        Field("client_id", "string", (0, 6)),
        Field("client_host", "string", (0, 6)),
        Field("member_metadata", "bytes", (0, 6)),
        Field("member_assignment", "bytes", (0, 6)),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.member_metadata: bytes = member_metadata
        self.member_assignment: bytes = member_assignment


class DescribedGroup(Entity):
    __slots__ = (
        "authorized_operations",
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "members",
        "protocol_data",
        "protocol_type",
    )
    NAME = "DescribedGroup"
    VERSIONS = (0, 6)
    FLEXIBLE = 5
    SCHEMA = (
        Field("error_code", "int16", (0, 6)),
        Field("error_message", "string", (6, 6), nullable=(6, 6), default=None),
        Field("group_id", "string", (0, 6)),
        Field("group_state", "string", (0, 6)),
        Field("protocol_type", "string", (0, 6)),
        Field("protocol_data", "string", (0, 6)),
        Field("members", DescribedGroupMember, (0, 6), array=True),
        Field("authorized_operations", "int32", (3, 6), default=-2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: Iterable[DescribedGroupMember] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.group_id: str = group_id
        self.group_state: str = group_state
        self.protocol_type: str = protocol_type
        self.protocol_data: str = protocol_data
        self.members: list[DescribedGroupMember] = (
            members if isinstance(members, list) else list(members)
        )
        self.authorized_operations: int = authorized_operations


class DescribeGroupsResponse(Entity):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    NAME = "DescribeGroupsResponse"
    VERSIONS = (0, 6)
    FLEXIBLE = 5
    API_KEY = 15
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 6), ignorable=True),
        Field("groups", DescribedGroup, (0, 6), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Iterable[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[DescribedGroup] = groups if isinstance(groups, list) else list(groups)
