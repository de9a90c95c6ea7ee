"""ElectLeaders (number 43). Written by tools/generate_protocol.py.

ElectLeadersRequest 0-2, ElectLeadersResponse 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class TopicPartitions(Entity):
    __slots__ = (
        "partitions",
        "topic",
    )
    NAME = "TopicPartitions"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("topic", "string", (0, 2)),
        Field("partitions", "int32", (0, 2), array=True),
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


class ElectLeadersRequest(Entity):
    __slots__ = (
        "election_type",
        "timeout_ms",
        "topic_partitions",
    )
    NAME = "ElectLeadersRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    API_KEY = 43
    SCHEMA = (
        Field("election_type", "int8", (1, 2)),
        Field("topic_partitions", TopicPartitions, (0, 2), array=True, nullable=(0, 2)),
        Field("timeout_ms", "int32", (0, 2), default=60000),
    )

    def __init__(
        self,
        *,
        election_type: int = 0,
        topic_partitions: Iterable[TopicPartitions] | None = (),
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type: int = election_type
        self.topic_partitions: list[TopicPartitions] | None = (
            topic_partitions
            if topic_partitions is None or isinstance(topic_partitions, list)
            else list(topic_partitions)
        )
        self.timeout_ms: int = timeout_ms


class PartitionResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "partition_id",
    )
    NAME = "PartitionResult"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("partition_id", "int32", (0, 2)),
        Field("error_code", "int16", (0, 2)),
        Field("error_message", "string", (0, 2), nullable=(0, 2)),
    )

    def __init__(
        self,
        *,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id: int = partition_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class ReplicaElectionResult(Entity):
    __slots__ = (
        "partition_result",
        "topic",
    )
    NAME = "ReplicaElectionResult"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("topic", "string", (0, 2)),
        Field("partition_result", PartitionResult, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partition_result: Iterable[PartitionResult] = (),
    ) -> None:
        self.topic: str = topic
        self.partition_result: list[PartitionResult] = (
            partition_result if isinstance(partition_result, list) else list(partition_result)
        )


class ElectLeadersResponse(Entity):
    __slots__ = (
        "error_code",
        "replica_election_results",
        "throttle_time_ms",
    )
    NAME = "ElectLeadersResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    API_KEY = 43
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 2)),
        Field("error_code", "int16", (1, 2)),
        Field("replica_election_results", ReplicaElectionResult, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: Iterable[ReplicaElectionResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.replica_election_results: list[ReplicaElectionResult] = (
            replica_election_results
            if isinstance(replica_election_results, list)
            else list(replica_election_results)
        )
