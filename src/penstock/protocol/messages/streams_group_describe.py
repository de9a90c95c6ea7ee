"""StreamsGroupDescribe (number 89). Written by tools/generate_protocol.py.

StreamsGroupDescribeRequest 0-0, StreamsGroupDescribeResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class StreamsGroupDescribeRequest(Entity):
    __slots__ = (
        "group_ids",
        "include_authorized_operations",
    )
    NAME = "StreamsGroupDescribeRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 89
    SCHEMA = (
        Field("group_ids", "string", (0, 0), array=True),
        Field("include_authorized_operations", "bool", (0, 0)),
    )

    def __init__(
        self,
        *,
        group_ids: Iterable[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids: list[str] = group_ids if isinstance(group_ids, list) else list(group_ids)
        self.include_authorized_operations: bool = include_authorized_operations


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


class TopicInfo(Entity):
    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
    )
    NAME = "TopicInfo"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("partitions", "int32", (0, 0)),
        Field("replication_factor", "int16", (0, 0)),
        Field("topic_configs", KeyValue, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: Iterable[KeyValue] = (),
    ) -> None:
        self.name: str = name
        self.partitions: int = partitions
        self.replication_factor: int = replication_factor
        self.topic_configs: list[KeyValue] = (
            topic_configs if isinstance(topic_configs, list) else list(topic_configs)
        )


class Subtopology(Entity):
    __slots__ = (
        "repartition_sink_topics",
        "repartition_source_topics",
        "source_topics",
        "state_changelog_topics",
        "subtopology_id",
    )
    NAME = "Subtopology"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("subtopology_id", "string", (0, 0)),
        Field("source_topics", "string", (0, 0), array=True),
        Field("repartition_sink_topics", "string", (0, 0), array=True),
        Field("state_changelog_topics", TopicInfo, (0, 0), array=True),
        Field("repartition_source_topics", TopicInfo, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: Iterable[str] = (),
        repartition_sink_topics: Iterable[str] = (),
        state_changelog_topics: Iterable[TopicInfo] = (),
        repartition_source_topics: Iterable[TopicInfo] = (),
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.source_topics: list[str] = (
            source_topics if isinstance(source_topics, list) else list(source_topics)
        )
        self.repartition_sink_topics: list[str] = (
            repartition_sink_topics
            if isinstance(repartition_sink_topics, list)
            else list(repartition_sink_topics)
        )
        self.state_changelog_topics: list[TopicInfo] = (
            state_changelog_topics
            if isinstance(state_changelog_topics, list)
            else list(state_changelog_topics)
        )
        self.repartition_source_topics: list[TopicInfo] = (
            repartition_source_topics
            if isinstance(repartition_source_topics, list)
            else list(repartition_source_topics)
        )


class Topology(Entity):
    __slots__ = (
        "epoch",
        "subtopologies",
    )
    NAME = "Topology"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("epoch", "int32", (0, 0)),
        Field("subtopologies", Subtopology, (0, 0), array=True, nullable=(0, 0), default=None),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: Iterable[Subtopology] | None = None,
    ) -> None:
        self.epoch: int = epoch
        self.subtopologies: list[Subtopology] | None = (
            subtopologies
            if subtopologies is None or isinstance(subtopologies, list)
            else list(subtopologies)
        )


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


class TaskOffset(Entity):
    __slots__ = (
        "offset",
        "partition",
        "subtopology_id",
    )
    NAME = "TaskOffset"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("subtopology_id", "string", (0, 0)),
        Field("partition", "int32", (0, 0)),
        Field("offset", "int64", (0, 0)),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.partition: int = partition
        self.offset: int = offset


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


class Assignment(Entity):
    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
    )
    NAME = "Assignment"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
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


class Member(Entity):
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "client_tags",
        "instance_id",
        "is_classic",
        "member_epoch",
        "member_id",
        "process_id",
        "rack_id",
        "target_assignment",
        "task_end_offsets",
        "task_offsets",
        "topology_epoch",
        "user_endpoint",
    )
    NAME = "Member"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("member_id", "string", (0, 0)),
        Field("member_epoch", "int32", (0, 0)),
        Field("instance_id", "string", (0, 0), nullable=(0, 0), default=None),
        Field("rack_id", "string", (0, 0), nullable=(0, 0), default=None),
        Field("client_id", "string", (0, 0)),
        Field("client_host", "string", (0, 0)),
        Field("topology_epoch", "int32", (0, 0)),
        Field("process_id", "string", (0, 0)),
        Field("user_endpoint", Endpoint, (0, 0), nullable=(0, 0), default=None),
        Field("client_tags", KeyValue, (0, 0), array=True),
        Field("task_offsets", TaskOffset, (0, 0), array=True),
        Field("task_end_offsets", TaskOffset, (0, 0), array=True),
        Field("assignment", Assignment, (0, 0)),
        Field("target_assignment", Assignment, (0, 0)),
        Field("is_classic", "bool", (0, 0)),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: Iterable[KeyValue] = (),
        task_offsets: Iterable[TaskOffset] = (),
        task_end_offsets: Iterable[TaskOffset] = (),
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        is_classic: bool = False,
    ) -> None:
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.topology_epoch: int = topology_epoch
        self.process_id: str = process_id
        self.user_endpoint: Endpoint | None = user_endpoint
        self.client_tags: list[KeyValue] = (
            client_tags if isinstance(client_tags, list) else list(client_tags)
        )
        self.task_offsets: list[TaskOffset] = (
            task_offsets if isinstance(task_offsets, list) else list(task_offsets)
        )
        self.task_end_offsets: list[TaskOffset] = (
            task_end_offsets if isinstance(task_end_offsets, list) else list(task_end_offsets)
        )
        self.assignment: Assignment = Assignment() if assignment is None else assignment
        self.target_assignment: Assignment = (
            Assignment() if target_assignment is None else target_assignment
        )
        self.is_classic: bool = is_classic


class DescribedGroup(Entity):
    __slots__ = (
        "assignment_epoch",
        "authorized_operations",
        "error_code",
        "error_message",
        "group_epoch",
        "group_id",
        "group_state",
        "members",
        "topology",
    )
    NAME = "DescribedGroup"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
        Field("group_id", "string", (0, 0)),
        Field("group_state", "string", (0, 0)),
        Field("group_epoch", "int32", (0, 0)),
        Field("assignment_epoch", "int32", (0, 0)),
        Field("topology", Topology, (0, 0), nullable=(0, 0), default=None),
        Field("members", Member, (0, 0), array=True),
        Field("authorized_operations", "int32", (0, 0), default=-2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: Iterable[Member] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.group_id: str = group_id
        self.group_state: str = group_state
        self.group_epoch: int = group_epoch
        self.assignment_epoch: int = assignment_epoch
        self.topology: Topology | None = topology
        self.members: list[Member] = members if isinstance(members, list) else list(members)
        self.authorized_operations: int = authorized_operations


class StreamsGroupDescribeResponse(Entity):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    NAME = "StreamsGroupDescribeResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 89
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("groups", DescribedGroup, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Iterable[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[DescribedGroup] = groups if isinstance(groups, list) else list(groups)
