"""StreamsGroupTargetAssignmentMember (number 21). Written by tools/generate_protocol.py.

StreamsGroupTargetAssignmentMemberKey 0-0, StreamsGroupTargetAssignmentMemberValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class StreamsGroupTargetAssignmentMemberKey(Entity):
    __slots__ = (
        "group_id",
        "member_id",
    )
    NAME = "StreamsGroupTargetAssignmentMemberKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 21
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


class TaskIds(Entity):
    __slots__ = (
        "partitions",
        "subtopology_id",
    )
    NAME = "TaskIds"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("subtopology_id", "string", (0, 0)),
        Field("partitions", "int32", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class StreamsGroupTargetAssignmentMemberValue(Entity):
    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
    )
    NAME = "StreamsGroupTargetAssignmentMemberValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 21
    SCHEMA = (
        Field("active_tasks", TaskIds, (0, 0), array=True),
        Field("standby_tasks", TaskIds, (0, 0), array=True),
        Field("warmup_tasks", TaskIds, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        active_tasks: Iterable[TaskIds] = (),
        standby_tasks: Iterable[TaskIds] = (),
        warmup_tasks: Iterable[TaskIds] = (),
    ) -> None:
        self.active_tasks: list[TaskIds] = (
            active_tasks if isinstance(active_tasks, list) else list(active_tasks)
        )
        self.standby_tasks: list[TaskIds] = (
            standby_tasks if isinstance(standby_tasks, list) else list(standby_tasks)
        )
        self.warmup_tasks: list[TaskIds] = (
            warmup_tasks if isinstance(warmup_tasks, list) else list(warmup_tasks)
        )
