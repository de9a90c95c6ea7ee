"""StreamsGroupCurrentMemberAssignment (number 22). Written by tools/generate_protocol.py.

StreamsGroupCurrentMemberAssignmentKey 0-0, StreamsGroupCurrentMemberAssignmentValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class StreamsGroupCurrentMemberAssignmentKey(Entity):
    __slots__ = (
        "group_id",
        "member_id",
    )
    NAME = "StreamsGroupCurrentMemberAssignmentKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 22
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
        "assignment_epochs",
        "partitions",
        "subtopology_id",
    )
    NAME = "TaskIds"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("subtopology_id", "string", (0, 0)),
        Field("partitions", "int32", (0, 0), array=True),
        Field(
            "assignment_epochs",
            "int32",
            (0, 0),
            array=True,
            nullable=(0, 0),
            tag=0,
            tagged=(0, 0),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: Iterable[int] = (),
        assignment_epochs: Iterable[int] | None = None,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )
        self.assignment_epochs: list[int] | None = (
            assignment_epochs
            if assignment_epochs is None or isinstance(assignment_epochs, list)
            else list(assignment_epochs)
        )


class StreamsGroupCurrentMemberAssignmentValue(Entity):
    __slots__ = (
        "active_tasks",
        "active_tasks_pending_revocation",
        "member_epoch",
        "previous_member_epoch",
        "standby_tasks",
        "standby_tasks_pending_revocation",
        "state",
        "warmup_tasks",
        "warmup_tasks_pending_revocation",
    )
    NAME = "StreamsGroupCurrentMemberAssignmentValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 22
    SCHEMA = (
        Field("member_epoch", "int32", (0, 0)),
        Field("previous_member_epoch", "int32", (0, 0)),
        Field("state", "int8", (0, 0)),
        Field("active_tasks", TaskIds, (0, 0), array=True),
        Field("standby_tasks", TaskIds, (0, 0), array=True),
        Field("warmup_tasks", TaskIds, (0, 0), array=True),
        Field("active_tasks_pending_revocation", TaskIds, (0, 0), array=True),
        Field("standby_tasks_pending_revocation", TaskIds, (0, 0), array=True),
        Field("warmup_tasks_pending_revocation", TaskIds, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: Iterable[TaskIds] = (),
        standby_tasks: Iterable[TaskIds] = (),
        warmup_tasks: Iterable[TaskIds] = (),
        active_tasks_pending_revocation: Iterable[TaskIds] = (),
        standby_tasks_pending_revocation: Iterable[TaskIds] = (),
        warmup_tasks_pending_revocation: Iterable[TaskIds] = (),
    ) -> None:
        self.member_epoch: int = member_epoch
        self.previous_member_epoch: int = previous_member_epoch
        self.state: int = state
        self.active_tasks: list[TaskIds] = (
            active_tasks if isinstance(active_tasks, list) else list(active_tasks)
        )
        self.standby_tasks: list[TaskIds] = (
            standby_tasks if isinstance(standby_tasks, list) else list(standby_tasks)
        )
        self.warmup_tasks: list[TaskIds] = (
            warmup_tasks if isinstance(warmup_tasks, list) else list(warmup_tasks)
        )
        self.active_tasks_pending_revocation: list[TaskIds] = (
            active_tasks_pending_revocation
            if isinstance(active_tasks_pending_revocation, list)
            else list(active_tasks_pending_revocation)
        )
        self.standby_tasks_pending_revocation: list[TaskIds] = (
            standby_tasks_pending_revocation
            if isinstance(standby_tasks_pending_revocation, list)
            else list(standby_tasks_pending_revocation)
        )
        self.warmup_tasks_pending_revocation: list[TaskIds] = (
            warmup_tasks_pending_revocation
            if isinstance(warmup_tasks_pending_revocation, list)
            else list(warmup_tasks_pending_revocation)
        )
