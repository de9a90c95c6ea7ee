"""StreamsGroupMemberMetadata (number 19). Written by tools/generate_protocol.py.

StreamsGroupMemberMetadataKey 0-0, StreamsGroupMemberMetadataValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class StreamsGroupMemberMetadataKey(Entity):
    __slots__ = (
        "group_id",
        "member_id",
    )
    NAME = "StreamsGroupMemberMetadataKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 19
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


class Endpoint(Entity):
    __slots__ = (
        "host",
        "port",
    )
    NAME = "Endpoint"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("host", "string", (0, 0)),
        Field("port", "uint16", (0, 0)),
    )

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host: str = host
        self.port: int = port


class KeyValue(Entity):
    __slots__ = (
        "key",
        "value",
    )
    NAME = "KeyValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("key", "string", (0, 0)),
        Field("value", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key: str = key
        self.value: str = value


class StreamsGroupMemberMetadataValue(Entity):
    __slots__ = (
        "client_host",
        "client_id",
        "client_tags",
        "instance_id",
        "process_id",
        "rack_id",
        "rebalance_timeout_ms",
        "topology_epoch",
        "user_endpoint",
    )
    NAME = "StreamsGroupMemberMetadataValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 19
    SCHEMA = (
        Field("instance_id", "string", (0, 0), nullable=(0, 0)),
        Field("rack_id", "string", (0, 0), nullable=(0, 0)),
        Field("client_id", "string", (0, 0)),
        Field("client_host", "string", (0, 0)),
        Field("rebalance_timeout_ms", "int32", (0, 0), default=-1),
        Field("topology_epoch", "int32", (0, 0)),
        Field("process_id", "string", (0, 0)),
        Field("user_endpoint", Endpoint, (0, 0), nullable=(0, 0), default=None),
        Field("client_tags", KeyValue, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: Iterable[KeyValue] = (),
    ) -> None:
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.topology_epoch: int = topology_epoch
        self.process_id: str = process_id
        self.user_endpoint: Endpoint | None = user_endpoint
        self.client_tags: list[KeyValue] = (
            client_tags if isinstance(client_tags, list) else list(client_tags)
        )
