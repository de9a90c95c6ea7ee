"""ShareAcknowledge (number 79). Written by tools/generate_protocol.py.

ShareAcknowledgeRequest 1-2, ShareAcknowledgeResponse 1-2.
"""

from __future__ import annotations

from collections.abc import Iterable

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


class AcknowledgePartition(Entity):
    __slots__ = (
        "acknowledgement_batches",
        "partition_index",
    )
    NAME = "AcknowledgePartition"
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


class AcknowledgeTopic(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "AcknowledgeTopic"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic_id", "uuid", (1, 2)),
        Field("partitions", AcknowledgePartition, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[AcknowledgePartition] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[AcknowledgePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class ShareAcknowledgeRequest(Entity):
    __slots__ = (
        "group_id",
        "is_renew_ack",
        "member_id",
        "share_session_epoch",
        "topics",
    )
    NAME = "ShareAcknowledgeRequest"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    API_KEY = 79
    SCHEMA = (
        Field("group_id", "string", (1, 2), nullable=(1, 2), default=None),
        Field("member_id", "string", (1, 2), nullable=(1, 2)),
        Field("share_session_epoch", "int32", (1, 2)),
        Field("is_renew_ack", "bool", (2, 2)),
        Field("topics", AcknowledgeTopic, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: Iterable[AcknowledgeTopic] = (),
    ) -> None:
        self.group_id: str | None = group_id
        self.member_id: str | None = member_id
        self.share_session_epoch: int = share_session_epoch
        self.is_renew_ack: bool = is_renew_ack
        self.topics: list[AcknowledgeTopic] = topics if isinstance(topics, list) else list(topics)


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


class PartitionData(Entity):
    __slots__ = (
        "current_leader",
        "error_code",
        "error_message",
        "partition_index",
    )
    NAME = "PartitionData"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("partition_index", "int32", (1, 2)),
        Field("error_code", "int16", (1, 2)),
        Field("error_message", "string", (1, 2), nullable=(1, 2), default=None),
        Field("current_leader", LeaderIdAndEpoch, (1, 2)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.current_leader: LeaderIdAndEpoch = (
            LeaderIdAndEpoch() if current_leader is None else current_leader
        )


class ShareAcknowledgeTopicResponse(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ShareAcknowledgeTopicResponse"
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


class ShareAcknowledgeResponse(Entity):
    __slots__ = (
        "acquisition_lock_timeout_ms",
        "error_code",
        "error_message",
        "node_endpoints",
        "responses",
        "throttle_time_ms",
    )
    NAME = "ShareAcknowledgeResponse"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    API_KEY = 79
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 2)),
        Field("error_code", "int16", (1, 2)),
        Field("error_message", "string", (1, 2), nullable=(1, 2), default=None),
        Field("acquisition_lock_timeout_ms", "int32", (2, 2), ignorable=True),
        Field("responses", ShareAcknowledgeTopicResponse, (1, 2), array=True),
        Field("node_endpoints", NodeEndpoint, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Iterable[ShareAcknowledgeTopicResponse] = (),
        node_endpoints: Iterable[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.acquisition_lock_timeout_ms: int = acquisition_lock_timeout_ms
        self.responses: list[ShareAcknowledgeTopicResponse] = (
            responses if isinstance(responses, list) else list(responses)
        )
        self.node_endpoints: list[NodeEndpoint] = (
            node_endpoints if isinstance(node_endpoints, list) else list(node_endpoints)
        )
