"""ListGroups (number 16). Written by tools/generate_protocol.py.

ListGroupsRequest 0-5, ListGroupsResponse 0-5.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ListGroupsRequest(Entity):
    __slots__ = (
        "states_filter",
        "types_filter",
    )
    NAME = "ListGroupsRequest"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    API_KEY = 16
    SCHEMA = (
        Field("states_filter", "string", (4, 5), array=True),
        Field("types_filter", "string", (5, 5), array=True),
    )

    def __init__(
        self,
        *,
        states_filter: Iterable[str] = (),
        types_filter: Iterable[str] = (),
    ) -> None:
        self.states_filter: list[str] = (
            states_filter if isinstance(states_filter, list) else list(states_filter)
        )
        self.types_filter: list[str] = (
            types_filter if isinstance(types_filter, list) else list(types_filter)
        )


class ListedGroup(Entity):
    __slots__ = (
        "group_id",
        "group_state",
        "group_type",
        "protocol_type",
    )
    NAME = "ListedGroup"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("group_id", "string", (0, 5)),
        Field("protocol_type", "string", (0, 5)),
        Field("group_state", "string", (4, 5), ignorable=True),
        Field("group_type", "string", (5, 5), ignorable=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.protocol_type: str = protocol_type
        self.group_state: str = group_state
        self.group_type: str = group_type


class ListGroupsResponse(Entity):
    __slots__ = (
        "error_code",
        "groups",
        "throttle_time_ms",
    )
    NAME = "ListGroupsResponse"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    API_KEY = 16
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 5), ignorable=True),
        Field("error_code", "int16", (0, 5)),
        Field("groups", ListedGroup, (0, 5), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: Iterable[ListedGroup] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.groups: list[ListedGroup] = groups if isinstance(groups, list) else list(groups)
