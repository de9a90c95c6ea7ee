"""StreamsGroupHeartbeat (number 88). Written by tools/generate_protocol.py.

StreamsGroupHeartbeatRequest 0-0, StreamsGroupHeartbeatResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


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


class CopartitionGroup(Entity):
    __slots__ = (
        "repartition_source_topics",
        "source_topic_regex",
        "source_topics",
    )
    NAME = "CopartitionGroup"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("source_topics", "int16", (0, 0), array=True),
        Field("source_topic_regex", "int16", (0, 0), array=True),
        Field("repartition_source_topics", "int16", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        source_topics: Iterable[int] = (),
        source_topic_regex: Iterable[int] = (),
        repartition_source_topics: Iterable[int] = (),
    ) -> None:
        self.source_topics: list[int] = (
            source_topics if isinstance(source_topics, list) else list(source_topics)
        )
        self.source_topic_regex: list[int] = (
            source_topic_regex if isinstance(source_topic_regex, list) else list(source_topic_regex)
        )
        self.repartition_source_topics: list[int] = (
            repartition_source_topics
            if isinstance(repartition_source_topics, list)
            else list(repartition_source_topics)
        )


class Subtopology(Entity):
    __slots__ = (
        "copartition_groups",
        "repartition_sink_topics",
        "repartition_source_topics",
        "source_topic_regex",
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
        Field("source_topic_regex", "string", (0, 0), array=True),
        Field("state_changelog_topics", TopicInfo, (0, 0), array=True),
        Field("repartition_sink_topics", "string", (0, 0), array=True),
        Field("repartition_source_topics", TopicInfo, (0, 0), array=True),
        Field("copartition_groups", CopartitionGroup, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: Iterable[str] = (),
        source_topic_regex: Iterable[str] = (),
        state_changelog_topics: Iterable[TopicInfo] = (),
        repartition_sink_topics: Iterable[str] = (),
        repartition_source_topics: Iterable[TopicInfo] = (),
        copartition_groups: Iterable[CopartitionGroup] = (),
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.source_topics: list[str] = (
            source_topics if isinstance(source_topics, list) else list(source_topics)
        )
        self.source_topic_regex: list[str] = (
            source_topic_regex if isinstance(source_topic_regex, list) else list(source_topic_regex)
        )
        self.state_changelog_topics: list[TopicInfo] = (
            state_changelog_topics
            if isinstance(state_changelog_topics, list)
            else list(state_changelog_topics)
        )
        self.repartition_sink_topics: list[str] = (
            repartition_sink_topics
            if isinstance(repartition_sink_topics, list)
            else list(repartition_sink_topics)
        )
        self.repartition_source_topics: list[TopicInfo] = (
            repartition_source_topics
            if isinstance(repartition_source_topics, list)
            else list(repartition_source_topics)
        )
        self.copartition_groups: list[CopartitionGroup] = (
            copartition_groups if isinstance(copartition_groups, list) else list(copartition_groups)
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
        Field("subtopologies", Subtopology, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: Iterable[Subtopology] = (),
    ) -> None:
        self.epoch: int = epoch
        self.subtopologies: list[Subtopology] = (
            subtopologies if isinstance(subtopologies, list) else list(subtopologies)
        )


class RequestTaskIds(Entity):
    __slots__ = (
        "partitions",
        "subtopology_id",
    )
    NAME = "RequestTaskIds"
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


class RequestEndpoint(Entity):
    __slots__ = (
        "host",
        "port",
    )
    NAME = "RequestEndpoint"
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


class StreamsGroupHeartbeatRequest(Entity):
    __slots__ = (
        "active_tasks",
        "client_tags",
        "endpoint_information_epoch",
        "group_id",
        "instance_id",
        "member_epoch",
        "member_id",
        "process_id",
        "rack_id",
        "rebalance_timeout_ms",
        "shutdown_application",
        "standby_tasks",
        "task_end_offsets",
        "task_offsets",
        "topology",
        "user_endpoint",
        "warmup_tasks",
    )
    NAME = "StreamsGroupHeartbeatRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 88
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("member_id", "string", (0, 0)),
        Field("member_epoch", "int32", (0, 0)),
        Field("endpoint_information_epoch", "int32", (0, 0)),
        Field("instance_id", "string", (0, 0), nullable=(0, 0), default=None),
        Field("rack_id", "string", (0, 0), nullable=(0, 0), default=None),
        Field("rebalance_timeout_ms", "int32", (0, 0), default=-1),
        Field("topology", Topology, (0, 0), nullable=(0, 0), default=None),
        Field("active_tasks", RequestTaskIds, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("standby_tasks", RequestTaskIds, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("warmup_tasks", RequestTaskIds, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("process_id", "string", (0, 0), nullable=(0, 0), default=None),
        Field("user_endpoint", RequestEndpoint, (0, 0), nullable=(0, 0), default=None),
        Field("client_tags", KeyValue, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("task_offsets", TaskOffset, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("task_end_offsets", TaskOffset, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("shutdown_application", "bool", (0, 0)),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: Iterable[RequestTaskIds] | None = None,
        standby_tasks: Iterable[RequestTaskIds] | None = None,
        warmup_tasks: Iterable[RequestTaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: RequestEndpoint | None = None,
        client_tags: Iterable[KeyValue] | None = None,
        task_offsets: Iterable[TaskOffset] | None = None,
        task_end_offsets: Iterable[TaskOffset] | None = None,
        shutdown_application: bool = False,
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.endpoint_information_epoch: int = endpoint_information_epoch
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.topology: Topology | None = topology
        self.active_tasks: list[RequestTaskIds] | None = (
            active_tasks
            if active_tasks is None or isinstance(active_tasks, list)
            else list(active_tasks)
        )
        self.standby_tasks: list[RequestTaskIds] | None = (
            standby_tasks
            if standby_tasks is None or isinstance(standby_tasks, list)
            else list(standby_tasks)
        )
        self.warmup_tasks: list[RequestTaskIds] | None = (
            warmup_tasks
            if warmup_tasks is None or isinstance(warmup_tasks, list)
            else list(warmup_tasks)
        )
        self.process_id: str | None = process_id
        self.user_endpoint: RequestEndpoint | None = user_endpoint
        self.client_tags: list[KeyValue] | None = (
            client_tags
            if client_tags is None or isinstance(client_tags, list)
            else list(client_tags)
        )
        self.task_offsets: list[TaskOffset] | None = (
            task_offsets
            if task_offsets is None or isinstance(task_offsets, list)
            else list(task_offsets)
        )
        self.task_end_offsets: list[TaskOffset] | None = (
            task_end_offsets
            if task_end_offsets is None or isinstance(task_end_offsets, list)
            else list(task_end_offsets)
        )
        self.shutdown_application: bool = shutdown_application


class Status(Entity):
    __slots__ = (
        "status_code",
        "status_detail",
    )
    NAME = "Status"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("status_code", "int8", (0, 0)),
        Field("status_detail", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        status_code: int = 0,
        status_detail: str = "",
    ) -> None:
        self.status_code: int = status_code
        self.status_detail: str = status_detail


class ResponseTaskIds(Entity):
    __slots__ = (
        "partitions",
        "subtopology_id",
    )
    NAME = "ResponseTaskIds"
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


class ResponseEndpoint(Entity):
    __slots__ = (
        "host",
        "port",
    )
    NAME = "ResponseEndpoint"
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


class TopicPartition(Entity):
    __slots__ = (
        "partitions",
        "topic",
    )
    NAME = "TopicPartition"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic", "string", (0, 0)),
        Field("partitions", "int32", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class EndpointToPartitions(Entity):
    __slots__ = (
        "active_partitions",
        "standby_partitions",
        "user_endpoint",
    )
    NAME = "EndpointToPartitions"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("user_endpoint", ResponseEndpoint, (0, 0)),
        Field("active_partitions", TopicPartition, (0, 0), array=True),
        Field("standby_partitions", TopicPartition, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        user_endpoint: ResponseEndpoint | None = None,
        active_partitions: Iterable[TopicPartition] = (),
        standby_partitions: Iterable[TopicPartition] = (),
    ) -> None:
        self.user_endpoint: ResponseEndpoint = (
            ResponseEndpoint() if user_endpoint is None else user_endpoint
        )
        self.active_partitions: list[TopicPartition] = (
            active_partitions if isinstance(active_partitions, list) else list(active_partitions)
        )
        self.standby_partitions: list[TopicPartition] = (
            standby_partitions if isinstance(standby_partitions, list) else list(standby_partitions)
        )


class StreamsGroupHeartbeatResponse(Entity):
    __slots__ = (
        "acceptable_recovery_lag",
        "active_tasks",
        "endpoint_information_epoch",
        "error_code",
        "error_message",
        "heartbeat_interval_ms",
        "member_epoch",
        "member_id",
        "partitions_by_user_endpoint",
        "standby_tasks",
        "status",
        "task_offset_interval_ms",
        "throttle_time_ms",
        "warmup_tasks",
    )
    NAME = "StreamsGroupHeartbeatResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 88
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
        Field("member_id", "string", (0, 0)),
        Field("member_epoch", "int32", (0, 0)),
        Field("heartbeat_interval_ms", "int32", (0, 0)),
        Field("acceptable_recovery_lag", "int32", (0, 0)),
        Field("task_offset_interval_ms", "int32", (0, 0)),
        Field("status", Status, (0, 0), array=True, nullable=(0, 0)),
        Field("active_tasks", ResponseTaskIds, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("standby_tasks", ResponseTaskIds, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("warmup_tasks", ResponseTaskIds, (0, 0), array=True, nullable=(0, 0), default=None),
        Field("endpoint_information_epoch", "int32", (0, 0)),
        Field(
            "partitions_by_user_endpoint",
            EndpointToPartitions,
            (0, 0),
            array=True,
            nullable=(0, 0),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag: int = 0,
        task_offset_interval_ms: int = 0,
        status: Iterable[Status] | None = (),
        active_tasks: Iterable[ResponseTaskIds] | None = None,
        standby_tasks: Iterable[ResponseTaskIds] | None = None,
        warmup_tasks: Iterable[ResponseTaskIds] | None = None,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: Iterable[EndpointToPartitions] | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.heartbeat_interval_ms: int = heartbeat_interval_ms
        self.acceptable_recovery_lag: int = acceptable_recovery_lag
        self.task_offset_interval_ms: int = task_offset_interval_ms
        self.status: list[Status] | None = (
            status if status is None or isinstance(status, list) else list(status)
        )
        self.active_tasks: list[ResponseTaskIds] | None = (
            active_tasks
            if active_tasks is None or isinstance(active_tasks, list)
            else list(active_tasks)
        )
        self.standby_tasks: list[ResponseTaskIds] | None = (
            standby_tasks
            if standby_tasks is None or isinstance(standby_tasks, list)
            else list(standby_tasks)
        )
        self.warmup_tasks: list[ResponseTaskIds] | None = (
            warmup_tasks
            if warmup_tasks is None or isinstance(warmup_tasks, list)
            else list(warmup_tasks)
        )
        self.endpoint_information_epoch: int = endpoint_information_epoch
        self.partitions_by_user_endpoint: list[EndpointToPartitions] | None = (
            partitions_by_user_endpoint
            if partitions_by_user_endpoint is None or isinstance(partitions_by_user_endpoint, list)
            else list(partitions_by_user_endpoint)
        )
