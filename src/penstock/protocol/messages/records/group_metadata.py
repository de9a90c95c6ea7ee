"""GroupMetadata (number 2). Written by tools/generate_protocol.py.

GroupMetadataKey 0-0, GroupMetadataValue 0-4.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class GroupMetadataKey(Entity):
    __slots__ = ("group",)
    NAME = "GroupMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 2
    SCHEMA = (Field("group", "string", (0, 0)),)

    def __init__(
        self,
        *,
        group: str = "",
    ) -> None:
        self.group: str = group


class MemberMetadata(Entity):
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "group_instance_id",
        "member_id",
        "rebalance_timeout",
        "session_timeout",
        "subscription",
    )
    NAME = "MemberMetadata"
    VERSIONS = (0, 4)
    FLEXIBLE = 4
    SCHEMA = (
        Field("member_id", "string", (0, 4)),
        Field("group_instance_id", "string", (3, 4), nullable=(3, 4), ignorable=True, default=None),
        Field("client_id", "string", (0, 4)),
        Field("client_host", "string", (0, 4)),
        Field("rebalance_timeout", "int32", (1, 4), ignorable=True, default=-1),
        Field("session_timeout", "int32", (0, 4)),
        Field("subscription", "bytes", (0, 4)),
        Field("assignment", "bytes", (0, 4)),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.rebalance_timeout: int = rebalance_timeout
        self.session_timeout: int = session_timeout
        self.subscription: bytes = subscription
        self.assignment: bytes = assignment


class GroupMetadataValue(Entity):
    __slots__ = (
        "current_state_timestamp",
        "generation",
        "leader",
        "members",
        "protocol",
        "protocol_type",
    )
    NAME = "GroupMetadataValue"
    VERSIONS = (0, 4)
    FLEXIBLE = 4
    API_KEY = 2
    SCHEMA = (
        Field("protocol_type", "string", (0, 4)),
        Field("generation", "int32", (0, 4)),
        Field("protocol", "string", (0, 4), nullable=(0, 4)),
        Field("leader", "string", (0, 4), nullable=(0, 4)),
        Field("current_state_timestamp", "int64", (2, 4), ignorable=True, default=-1),
        Field("members", MemberMetadata, (0, 4), array=True),
    )

    def __init__(
        self,
        *,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: Iterable[MemberMetadata] = (),
    ) -> None:
        self.protocol_type: str = protocol_type
        self.generation: int = generation
        self.protocol: str | None = protocol
        self.leader: str | None = leader
        self.current_state_timestamp: int = current_state_timestamp
        self.members: list[MemberMetadata] = members if isinstance(members, list) else list(members)
