"""Fetch (number 1). Written by tools/generate_protocol.py.

FetchRequest 4-18, FetchResponse 4-18.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ReplicaState(Entity):
    __slots__ = (
        "replica_epoch",
        "replica_id",
    )
    NAME = "ReplicaState"
    VERSIONS = (15, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("replica_id", "int32", (15, 18), default=-1),
        Field("replica_epoch", "int64", (15, 18), default=-1),
    )

    def __init__(
        self,
        *,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id: int = replica_id
        self.replica_epoch: int = replica_epoch


class FetchPartition(Entity):
    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "high_watermark",
        "last_fetched_epoch",
        "log_start_offset",
        "partition",
        "partition_max_bytes",
        "replica_directory_id",
    )
    NAME = "FetchPartition"
    VERSIONS = (4, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("partition", "int32", (4, 18)),
        Field("current_leader_epoch", "int32", (9, 18), ignorable=True, default=-1),
        Field("fetch_offset", "int64", (4, 18)),
        Field("last_fetched_epoch", "int32", (12, 18), default=-1),
        Field("log_start_offset", "int64", (5, 18), ignorable=True, default=-1),
        Field("partition_max_bytes", "int32", (4, 18)),
        Field("replica_directory_id", "uuid", (17, 18), tag=0, tagged=(17, 18), ignorable=True),
        Field(
            "high_watermark",
            "int64",
            (18, 18),
            tag=1,
            tagged=(18, 18),
            ignorable=True,
            default=9223372036854775807,
        ),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_ID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition: int = partition
        self.current_leader_epoch: int = current_leader_epoch
        self.fetch_offset: int = fetch_offset
        self.last_fetched_epoch: int = last_fetched_epoch
        self.log_start_offset: int = log_start_offset
        self.partition_max_bytes: int = partition_max_bytes
        self.replica_directory_id: bytes = replica_directory_id
        self.high_watermark: int = high_watermark


class FetchTopic(Entity):
    __slots__ = (
        "partitions",
        "topic",
        "topic_id",
    )
    NAME = "FetchTopic"
    VERSIONS = (4, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("topic", "string", (4, 12), ignorable=True),
        Field("topic_id", "uuid", (13, 18), ignorable=True),
        Field("partitions", FetchPartition, (4, 18), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[FetchPartition] = (),
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[FetchPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ForgottenTopic(Entity):
    __slots__ = (
        "partitions",
        "topic",
        "topic_id",
    )
    NAME = "ForgottenTopic"
    VERSIONS = (7, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("topic", "string", (7, 12), ignorable=True),
        Field("topic_id", "uuid", (13, 18), ignorable=True),
        Field("partitions", "int32", (7, 18), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class FetchRequest(Entity):
    __slots__ = (
        "cluster_id",
        "forgotten_topics_data",
        "isolation_level",
        "max_bytes",
        "max_wait_ms",
        "min_bytes",
        "rack_id",
        "replica_id",
        "replica_state",
        "session_epoch",
        "session_id",
        "topics",
    )
    NAME = "FetchRequest"
    VERSIONS = (4, 18)
    FLEXIBLE = 12
    API_KEY = 1
    SCHEMA = (
        Field(
            "cluster_id",
            "string",
            (12, 18),
            nullable=(12, 18),
            tag=0,
            tagged=(12, 18),
            ignorable=True,
            default=None,
        ),
        Field("replica_id", "int32", (4, 14), default=-1),
        Field("replica_state", ReplicaState, (15, 18), tag=1, tagged=(15, 18)),
        Field("max_wait_ms", "int32", (4, 18)),
        Field("min_bytes", "int32", (4, 18)),
        Field("max_bytes", "int32", (4, 18), ignorable=True, default=2147483647),
        Field("isolation_level", "int8", (4, 18), ignorable=True),
        Field("session_id", "int32", (7, 18), ignorable=True),
        Field("session_epoch", "int32", (7, 18), ignorable=True, default=-1),
        Field("topics", FetchTopic, (4, 18), array=True),
        Field("forgotten_topics_data", ForgottenTopic, (7, 18), array=True),
        Field("rack_id", "string", (11, 18), ignorable=True),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: Iterable[FetchTopic] = (),
        forgotten_topics_data: Iterable[ForgottenTopic] = (),
        rack_id: str = "",
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.replica_id: int = replica_id
        self.replica_state: ReplicaState | None = replica_state
        self.max_wait_ms: int = max_wait_ms
        self.min_bytes: int = min_bytes
        self.max_bytes: int = max_bytes
        self.isolation_level: int = isolation_level
        self.session_id: int = session_id
        self.session_epoch: int = session_epoch
        self.topics: list[FetchTopic] = topics if isinstance(topics, list) else list(topics)
        self.forgotten_topics_data: list[ForgottenTopic] = (
            forgotten_topics_data
            if isinstance(forgotten_topics_data, list)
            else list(forgotten_topics_data)
        )
        self.rack_id: str = rack_id


class EpochEndOffset(Entity):
    __slots__ = (
        "end_offset",
        "epoch",
    )
    NAME = "EpochEndOffset"
    VERSIONS = (12, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("epoch", "int32", (12, 18), default=-1),
        Field("end_offset", "int64", (12, 18), default=-1),
    )

    def __init__(
        self,
        *,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch: int = epoch
        self.end_offset: int = end_offset


class LeaderIdAndEpoch(Entity):
    __slots__ = (
        "leader_epoch",
        "leader_id",
    )
    NAME = "LeaderIdAndEpoch"
    VERSIONS = (12, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("leader_id", "int32", (12, 18), default=-1),
        Field("leader_epoch", "int32", (12, 18), default=-1),
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch


class SnapshotId(Entity):
    __slots__ = (
        "end_offset",
        "epoch",
    )
    NAME = "SnapshotId"
    VERSIONS = (12, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("end_offset", "int64", (4, 18), default=-1),
        Field("epoch", "int32", (4, 18), default=-1),
    )

    def __init__(
        self,
        *,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset: int = end_offset
        self.epoch: int = epoch


class AbortedTransaction(Entity):
    __slots__ = (
        "first_offset",
        "producer_id",
    )
    NAME = "AbortedTransaction"
    VERSIONS = (4, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("producer_id", "int64", (4, 18)),
        Field("first_offset", "int64", (4, 18)),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id: int = producer_id
        self.first_offset: int = first_offset


class PartitionData(Entity):
    __slots__ = (
        "aborted_transactions",
        "current_leader",
        "diverging_epoch",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "partition_index",
        "preferred_read_replica",
        "records",
        "snapshot_id",
    )
    NAME = "PartitionData"
    VERSIONS = (4, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("partition_index", "int32", (4, 18)),
        Field("error_code", "int16", (4, 18)),
        Field("high_watermark", "int64", (4, 18)),
        Field("last_stable_offset", "int64", (4, 18), ignorable=True, default=-1),
        Field("log_start_offset", "int64", (5, 18), ignorable=True, default=-1),
        Field("diverging_epoch", EpochEndOffset, (12, 18), tag=0, tagged=(12, 18)),
        Field("current_leader", LeaderIdAndEpoch, (12, 18), tag=1, tagged=(12, 18)),
        Field("snapshot_id", SnapshotId, (12, 18), tag=2, tagged=(12, 18)),
        Field(
            "aborted_transactions",
            AbortedTransaction,
            (4, 18),
            array=True,
            nullable=(4, 18),
            ignorable=True,
        ),
        Field("preferred_read_replica", "int32", (11, 18), default=-1),
        Field("records", "records", (4, 18), nullable=(4, 18)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: Iterable[AbortedTransaction] | None = (),
        preferred_read_replica: int = -1,
        records: Sized | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.high_watermark: int = high_watermark
        self.last_stable_offset: int = last_stable_offset
        self.log_start_offset: int = log_start_offset
        self.diverging_epoch: EpochEndOffset | None = diverging_epoch
        self.current_leader: LeaderIdAndEpoch | None = current_leader
        self.snapshot_id: SnapshotId | None = snapshot_id
        self.aborted_transactions: list[AbortedTransaction] | None = (
            aborted_transactions
            if aborted_transactions is None or isinstance(aborted_transactions, list)
            else list(aborted_transactions)
        )
        self.preferred_read_replica: int = preferred_read_replica
        self.records: Sized | None = records


class FetchableTopicResponse(Entity):
    __slots__ = (
        "partitions",
        "topic",
        "topic_id",
    )
    NAME = "FetchableTopicResponse"
    VERSIONS = (4, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("topic", "string", (4, 12), ignorable=True),
        Field("topic_id", "uuid", (13, 18), ignorable=True),
        Field("partitions", PartitionData, (4, 18), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[PartitionData] = (),
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[PartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class NodeEndpoint(Entity):
    __slots__ = (
        "host",
        "node_id",
        "port",
        "rack",
    )
    NAME = "NodeEndpoint"
    VERSIONS = (16, 18)
    FLEXIBLE = 12
    SCHEMA = (
        Field("node_id", "int32", (16, 18)),
        Field("host", "string", (16, 18)),
        Field("port", "int32", (16, 18)),
        Field("rack", "string", (16, 18), nullable=(16, 18), default=None),
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.rack: str | None = rack


class FetchResponse(Entity):
    __slots__ = (
        "error_code",
        "node_endpoints",
        "responses",
        "session_id",
        "throttle_time_ms",
    )
    NAME = "FetchResponse"
    VERSIONS = (4, 18)
    FLEXIBLE = 12
    API_KEY = 1
    SCHEMA = (
        Field("throttle_time_ms", "int32", (4, 18), ignorable=True),
        Field("error_code", "int16", (7, 18), ignorable=True),
        Field("session_id", "int32", (7, 18)),
        Field("responses", FetchableTopicResponse, (4, 18), array=True),
        Field("node_endpoints", NodeEndpoint, (16, 18), array=True, tag=0, tagged=(16, 18)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: Iterable[FetchableTopicResponse] = (),
        node_endpoints: Iterable[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.session_id: int = session_id
        self.responses: list[FetchableTopicResponse] = (
            responses if isinstance(responses, list) else list(responses)
        )
        self.node_endpoints: list[NodeEndpoint] = (
            node_endpoints if isinstance(node_endpoints, list) else list(node_endpoints)
        )
