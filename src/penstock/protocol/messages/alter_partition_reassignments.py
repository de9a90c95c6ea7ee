"""AlterPartitionReassignments (number 45). Written by tools/generate_protocol.py.

AlterPartitionReassignmentsRequest 0-1, AlterPartitionReassignmentsResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ReassignablePartition(Entity):
    __slots__ = (
        "partition_index",
        "replicas",
    )
    NAME = "ReassignablePartition"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 1)),
        Field("replicas", "int32", (0, 1), array=True, nullable=(0, 1), default=None),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: Iterable[int] | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.replicas: list[int] | None = (
            replicas if replicas is None or isinstance(replicas, list) else list(replicas)
        )


class ReassignableTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "ReassignableTopic"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 1)),
        Field("partitions", ReassignablePartition, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[ReassignablePartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[ReassignablePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AlterPartitionReassignmentsRequest(Entity):
    __slots__ = (
        "allow_replication_factor_change",
        "timeout_ms",
        "topics",
    )
    NAME = "AlterPartitionReassignmentsRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 45
    SCHEMA = (
        Field("timeout_ms", "int32", (0, 1), default=60000),
        Field("allow_replication_factor_change", "bool", (1, 1), default=True),
        Field("topics", ReassignableTopic, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: Iterable[ReassignableTopic] = (),
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.allow_replication_factor_change: bool = allow_replication_factor_change
        self.topics: list[ReassignableTopic] = topics if isinstance(topics, list) else list(topics)


class ReassignablePartitionResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "partition_index",
    )
    NAME = "ReassignablePartitionResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class ReassignableTopicResponse(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "ReassignableTopicResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 1)),
        Field("partitions", ReassignablePartitionResponse, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[ReassignablePartitionResponse] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[ReassignablePartitionResponse] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AlterPartitionReassignmentsResponse(Entity):
    __slots__ = (
        "allow_replication_factor_change",
        "error_code",
        "error_message",
        "responses",
        "throttle_time_ms",
    )
    NAME = "AlterPartitionReassignmentsResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 45
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1)),
        Field("allow_replication_factor_change", "bool", (1, 1), ignorable=True, default=True),
        Field("error_code", "int16", (0, 1)),
        Field("error_message", "string", (0, 1), nullable=(0, 1)),
        Field("responses", ReassignableTopicResponse, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: Iterable[ReassignableTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.allow_replication_factor_change: bool = allow_replication_factor_change
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.responses: list[ReassignableTopicResponse] = (
            responses if isinstance(responses, list) else list(responses)
        )
