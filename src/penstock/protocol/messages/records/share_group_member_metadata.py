"""ShareGroupMemberMetadata (number 10). Written by tools/generate_protocol.py.

ShareGroupMemberMetadataKey 0-0, ShareGroupMemberMetadataValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ShareGroupMemberMetadataKey(Entity):
    __slots__ = (
        "group_id",
        "member_id",
    )
    NAME = "ShareGroupMemberMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 10
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


class ShareGroupMemberMetadataValue(Entity):
    __slots__ = (
        "client_host",
        "client_id",
        "rack_id",
        "subscribed_topic_names",
    )
    NAME = "ShareGroupMemberMetadataValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 10
    SCHEMA = (
        Field("rack_id", "string", (0, 0), nullable=(0, 0)),
        Field("client_id", "string", (0, 0)),
        Field("client_host", "string", (0, 0)),
        Field("subscribed_topic_names", "string", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Iterable[str] = (),
    ) -> None:
        self.rack_id: str | None = rack_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.subscribed_topic_names: list[str] = (
            subscribed_topic_names
            if isinstance(subscribed_topic_names, list)
            else list(subscribed_topic_names)
        )
