"""DeleteGroups (number 42). Written by tools/generate_protocol.py.

DeleteGroupsRequest 0-2, DeleteGroupsResponse 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DeleteGroupsRequest(Entity):
    __slots__ = ("groups_names",)
    NAME = "DeleteGroupsRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    API_KEY = 42
    SCHEMA = (Field("groups_names", "string", (0, 2), array=True),)

    def __init__(
        self,
        *,
        groups_names: Iterable[str] = (),
    ) -> None:
        self.groups_names: list[str] = (
            groups_names if isinstance(groups_names, list) else list(groups_names)
        )


class DeletableGroupResult(Entity):
    __slots__ = (
        "error_code",
        "group_id",
    )
    NAME = "DeletableGroupResult"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("group_id", "string", (0, 2)),
        Field("error_code", "int16", (0, 2)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        error_code: int = 0,
    ) -> None:
        self.group_id: str = group_id
        self.error_code: int = error_code


class DeleteGroupsResponse(Entity):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    NAME = "DeleteGroupsResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    API_KEY = 42
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 2)),
        Field("results", DeletableGroupResult, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Iterable[DeletableGroupResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[DeletableGroupResult] = (
            results if isinstance(results, list) else list(results)
        )
