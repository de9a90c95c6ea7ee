"""ListPartitionReassignments (number 46). Written by tools/generate_protocol.py.

ListPartitionReassignmentsRequest 0-0, ListPartitionReassignmentsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ListPartitionReassignmentsTopics(Entity):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    NAME = "ListPartitionReassignmentsTopics"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("partition_indexes", "int32", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: Iterable[int] = (),
    ) -> None:
        self.name: str = name
        self.partition_indexes: list[int] = (
            partition_indexes if isinstance(partition_indexes, list) else list(partition_indexes)
        )


class ListPartitionReassignmentsRequest(Entity):
    __slots__ = (
        "timeout_ms",
        "topics",
    )
    NAME = "ListPartitionReassignmentsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 46
    SCHEMA = (
        Field("timeout_ms", "int32", (0, 0), default=60000),
        Field(
            "topics",
            ListPartitionReassignmentsTopics,
            (0, 0),
            array=True,
            nullable=(0, 0),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        topics: Iterable[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.topics: list[ListPartitionReassignmentsTopics] | None = (
            topics if topics is None or isinstance(topics, list) else list(topics)
        )


class OngoingPartitionReassignment(Entity):
    __slots__ = (
        "adding_replicas",
        "partition_index",
        "removing_replicas",
        "replicas",
    )
    NAME = "OngoingPartitionReassignment"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 0)),
        Field("replicas", "int32", (0, 0), array=True),
        Field("adding_replicas", "int32", (0, 0), array=True),
        Field("removing_replicas", "int32", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: Iterable[int] = (),
        adding_replicas: Iterable[int] = (),
        removing_replicas: Iterable[int] = (),
    ) -> None:
        self.partition_index: int = partition_index
        self.replicas: list[int] = replicas if isinstance(replicas, list) else list(replicas)
        self.adding_replicas: list[int] = (
            adding_replicas if isinstance(adding_replicas, list) else list(adding_replicas)
        )
        self.removing_replicas: list[int] = (
            removing_replicas if isinstance(removing_replicas, list) else list(removing_replicas)
        )


class OngoingTopicReassignment(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "OngoingTopicReassignment"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("partitions", OngoingPartitionReassignment, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[OngoingPartitionReassignment] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[OngoingPartitionReassignment] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ListPartitionReassignmentsResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
        "topics",
    )
    NAME = "ListPartitionReassignmentsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 46
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0)),
        Field("topics", OngoingTopicReassignment, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Iterable[OngoingTopicReassignment] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topics: list[OngoingTopicReassignment] = (
            topics if isinstance(topics, list) else list(topics)
        )
