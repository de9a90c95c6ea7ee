"""ConsumerGroupMemberMetadata (number 5). Written by tools/generate_protocol.py.

ConsumerGroupMemberMetadataKey 0-0, ConsumerGroupMemberMetadataValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ConsumerGroupMemberMetadataKey(Entity):
    __slots__ = (
        "group_id",
        "member_id",
    )
    NAME = "ConsumerGroupMemberMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 5
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("member_id", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class ClassicProtocol(Entity):
    __slots__ = (
        "metadata",
        "name",
    )
    NAME = "ClassicProtocol"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("metadata", "bytes", (0, 0)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name: str = name
        self.metadata: bytes = metadata


class ClassicMemberMetadata(Entity):
    __slots__ = (
        "session_timeout_ms",
        "supported_protocols",
    )
    NAME = "ClassicMemberMetadata"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("session_timeout_ms", "int32", (0, 0)),
        Field("supported_protocols", ClassicProtocol, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        session_timeout_ms: int = 0,
        supported_protocols: Iterable[ClassicProtocol] = (),
    ) -> None:
        self.session_timeout_ms: int = session_timeout_ms
        self.supported_protocols: list[ClassicProtocol] = (
            supported_protocols
            if isinstance(supported_protocols, list)
            else list(supported_protocols)
        )


class ConsumerGroupMemberMetadataValue(Entity):
    __slots__ = (
        "classic_member_metadata",
        "client_host",
        "client_id",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "server_assignor",
        "subscribed_topic_names",
        "subscribed_topic_regex",
    )
    NAME = "ConsumerGroupMemberMetadataValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 5
    SCHEMA = (
        Field("instance_id", "string", (0, 0), nullable=(0, 0)),
        Field("rack_id", "string", (0, 0), nullable=(0, 0)),
        Field("client_id", "string", (0, 0)),
        Field("client_host", "string", (0, 0)),
        Field("subscribed_topic_names", "string", (0, 0), array=True),
        Field("subscribed_topic_regex", "string", (0, 0), nullable=(0, 0)),
        Field("rebalance_timeout_ms", "int32", (0, 0), default=-1),
        Field("server_assignor", "string", (0, 0), nullable=(0, 0)),
        Field(
            "classic_member_metadata",
            ClassicMemberMetadata,
            (0, 0),
            nullable=(0, 0),
            tag=0,
            tagged=(0, 0),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Iterable[str] = (),
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = None,
    ) -> None:
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.subscribed_topic_names: list[str] = (
            subscribed_topic_names
            if isinstance(subscribed_topic_names, list)
            else list(subscribed_topic_names)
        )
        self.subscribed_topic_regex: str | None = subscribed_topic_regex
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.server_assignor: str | None = server_assignor
        self.classic_member_metadata: ClassicMemberMetadata | None = classic_member_metadata
