"""ShareFetch (number 78). Written by tools/generate_protocol.py.

ShareFetchRequest 1-2, ShareFetchResponse 1-2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class AcknowledgementBatch(Entity):
    __slots__ = (
        "acknowledge_types",
        "first_offset",
        "last_offset",
    )
    NAME = "AcknowledgementBatch"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("first_offset", "int64", (1, 2)),
        Field("last_offset", "int64", (1, 2)),
        Field("acknowledge_types", "int8", (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: Iterable[int] = (),
    ) -> None:
        self.first_offset: int = first_offset
        self.last_offset: int = last_offset
        self.acknowledge_types: list[int] = (
            acknowledge_types if isinstance(acknowledge_types, list) else list(acknowledge_types)
        )


class FetchPartition(Entity):
    __slots__ = (
        "acknowledgement_batches",
        "partition_index",
    )
    NAME = "FetchPartition"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("partition_index", "int32", (1, 2)),
        Field("acknowledgement_batches", AcknowledgementBatch, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        acknowledgement_batches: Iterable[AcknowledgementBatch] = (),
    ) -> None:
        self.partition_index: int = partition_index
        self.acknowledgement_batches: list[AcknowledgementBatch] = (
            acknowledgement_batches
            if isinstance(acknowledgement_batches, list)
            else list(acknowledgement_batches)
        )


class FetchTopic(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "FetchTopic"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic_id", "uuid", (1, 2)),
        Field("partitions", FetchPartition, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[FetchPartition] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[FetchPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ForgottenTopic(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ForgottenTopic"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic_id", "uuid", (1, 2)),
        Field("partitions", "int32", (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ShareFetchRequest(Entity):
    __slots__ = (
        "batch_size",
        "forgotten_topics_data",
        "group_id",
        "is_renew_ack",
        "max_bytes",
        "max_records",
        "max_wait_ms",
        "member_id",
        "min_bytes",
        "share_acquire_mode",
        "share_session_epoch",
        "topics",
    )
    NAME = "ShareFetchRequest"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    API_KEY = 78
    SCHEMA = (
        Field("group_id", "string", (1, 2), nullable=(1, 2), default=None),
        Field("member_id", "string", (1, 2), nullable=(1, 2)),
        Field("share_session_epoch", "int32", (1, 2)),
        Field("max_wait_ms", "int32", (1, 2)),
        Field("min_bytes", "int32", (1, 2)),
        Field("max_bytes", "int32", (1, 2), default=2147483647),
        Field("max_records", "int32", (1, 2)),
        Field("batch_size", "int32", (1, 2)),
        Field("share_acquire_mode", "int8", (2, 2), ignorable=True),
        Field("is_renew_ack", "bool", (2, 2)),
        Field("topics", FetchTopic, (1, 2), array=True),
        Field("forgotten_topics_data", ForgottenTopic, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: Iterable[FetchTopic] = (),
        forgotten_topics_data: Iterable[ForgottenTopic] = (),
    ) -> None:
        self.group_id: str | None = group_id
        self.member_id: str | None = member_id
        self.share_session_epoch: int = share_session_epoch
        self.max_wait_ms: int = max_wait_ms
        self.min_bytes: int = min_bytes
        self.max_bytes: int = max_bytes
        self.max_records: int = max_records
        self.batch_size: int = batch_size
        self.share_acquire_mode: int = share_acquire_mode
        self.is_renew_ack: bool = is_renew_ack
        self.topics: list[FetchTopic] = topics if isinstance(topics, list) else list(topics)
        self.forgotten_topics_data: list[ForgottenTopic] = (
            forgotten_topics_data
            if isinstance(forgotten_topics_data, list)
            else list(forgotten_topics_data)
        )


class LeaderIdAndEpoch(Entity):
    __slots__ = (
        "leader_epoch",
        "leader_id",
    )
    NAME = "LeaderIdAndEpoch"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("leader_id", "int32", (1, 2)),
        Field("leader_epoch", "int32", (1, 2)),
    )

    def __init__(
        self,
        *,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch


class AcquiredRecords(Entity):
    __slots__ = (
        "delivery_count",
        "first_offset",
        "last_offset",
    )
    NAME = "AcquiredRecords"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("first_offset", "int64", (1, 2)),
        Field("last_offset", "int64", (1, 2)),
        Field("delivery_count", "int16", (1, 2)),
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset: int = first_offset
        self.last_offset: int = last_offset
        self.delivery_count: int = delivery_count


class PartitionData(Entity):
    __slots__ = (
        "acknowledge_error_code",
        "acknowledge_error_message",
        "acquired_records",
        "current_leader",
        "error_code",
        "error_message",
        "partition_index",
        "records",
    )
    NAME = "PartitionData"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("partition_index", "int32", (1, 2)),
        Field("error_code", "int16", (1, 2)),
        Field("error_message", "string", (1, 2), nullable=(1, 2), default=None),
        Field("acknowledge_error_code", "int16", (1, 2)),
        Field("acknowledge_error_message", "string", (1, 2), nullable=(1, 2), default=None),
        Field("current_leader", LeaderIdAndEpoch, (1, 2)),
        Field("records", "records", (1, 2)),
        Field("acquired_records", AcquiredRecords, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        records: Sized = b"",
        acquired_records: Iterable[AcquiredRecords] = (),
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.acknowledge_error_code: int = acknowledge_error_code
        self.acknowledge_error_message: str | None = acknowledge_error_message
        self.current_leader: LeaderIdAndEpoch = (
            LeaderIdAndEpoch() if current_leader is None else current_leader
        )
        self.records: Sized = records
        self.acquired_records: list[AcquiredRecords] = (
            acquired_records if isinstance(acquired_records, list) else list(acquired_records)
        )


class ShareFetchableTopicResponse(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ShareFetchableTopicResponse"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic_id", "uuid", (1, 2)),
        Field("partitions", PartitionData, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[PartitionData] = (),
    ) -> None:
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
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("node_id", "int32", (1, 2)),
        Field("host", "string", (1, 2)),
        Field("port", "int32", (1, 2)),
        Field("rack", "string", (1, 2), nullable=(1, 2), default=None),
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


class ShareFetchResponse(Entity):
    __slots__ = (
        "acquisition_lock_timeout_ms",
        "error_code",
        "error_message",
        "node_endpoints",
        "responses",
        "throttle_time_ms",
    )
    NAME = "ShareFetchResponse"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    API_KEY = 78
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 2)),
        Field("error_code", "int16", (1, 2)),
        Field("error_message", "string", (1, 2), nullable=(1, 2), default=None),
        Field("acquisition_lock_timeout_ms", "int32", (1, 2)),
        Field("responses", ShareFetchableTopicResponse, (1, 2), array=True),
        Field("node_endpoints", NodeEndpoint, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Iterable[ShareFetchableTopicResponse] = (),
        node_endpoints: Iterable[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.acquisition_lock_timeout_ms: int = acquisition_lock_timeout_ms
        self.responses: list[ShareFetchableTopicResponse] = (
            responses if isinstance(responses, list) else list(responses)
        )
        self.node_endpoints: list[NodeEndpoint] = (
            node_endpoints if isinstance(node_endpoints, list) else list(node_endpoints)
        )
