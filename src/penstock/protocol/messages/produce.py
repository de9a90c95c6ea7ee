"""Produce (number 0). Written by tools/generate_protocol.py.

ProduceRequest 3-13, ProduceResponse 3-13.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class PartitionProduceData(Entity):
    __slots__ = (
        "index",
        "records",
    )
    NAME = "PartitionProduceData"
    VERSIONS = (3, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("index", "int32", (3, 13)),
        Field("records", "records", (3, 13), nullable=(3, 13)),
    )

    def __init__(
        self,
        *,
        index: int = 0,
        records: bytes | bytearray | memoryview | None = None,
    ) -> None:
        self.index: int = index
        self.records: bytes | bytearray | memoryview | None = records


class TopicProduceData(Entity):
    __slots__ = (
        "name",
        "partition_data",
        "topic_id",
    )
    NAME = "TopicProduceData"
    VERSIONS = (3, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("name", "string", (3, 12), ignorable=True),
        Field("topic_id", "uuid", (13, 13), ignorable=True),
        Field("partition_data", PartitionProduceData, (3, 13), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_ID,
        partition_data: Iterable[PartitionProduceData] = (),
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partition_data: list[PartitionProduceData] = (
            partition_data if isinstance(partition_data, list) else list(partition_data)
        )


class ProduceRequest(Entity):
    __slots__ = (
        "acks",
        "timeout_ms",
        "topic_data",
        "transactional_id",
    )
    NAME = "ProduceRequest"
    VERSIONS = (3, 13)
    FLEXIBLE = 9
    API_KEY = 0
    SCHEMA = (
        Field("transactional_id", "string", (3, 13), nullable=(3, 13), default=None),
        Field("acks", "int16", (3, 13)),
        Field("timeout_ms", "int32", (3, 13)),
        Field("topic_data", TopicProduceData, (3, 13), array=True),
    )

    def __init__(
        self,
        *,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: Iterable[TopicProduceData] = (),
    ) -> None:
        self.transactional_id: str | None = transactional_id
        self.acks: int = acks
        self.timeout_ms: int = timeout_ms
        self.topic_data: list[TopicProduceData] = (
            topic_data if isinstance(topic_data, list) else list(topic_data)
        )


class BatchIndexAndErrorMessage(Entity):
    __slots__ = (
        "batch_index",
        "batch_index_error_message",
    )
    NAME = "BatchIndexAndErrorMessage"
    VERSIONS = (8, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("batch_index", "int32", (8, 13)),
        Field("batch_index_error_message", "string", (8, 13), nullable=(8, 13), default=None),
    )

    def __init__(
        self,
        *,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index: int = batch_index
        self.batch_index_error_message: str | None = batch_index_error_message


class LeaderIdAndEpoch(Entity):
    __slots__ = (
        "leader_epoch",
        "leader_id",
    )
    NAME = "LeaderIdAndEpoch"
    VERSIONS = (10, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("leader_id", "int32", (10, 13), default=-1),
        Field("leader_epoch", "int32", (10, 13), default=-1),
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch


class PartitionProduceResponse(Entity):
    __slots__ = (
        "base_offset",
        "current_leader",
        "error_code",
        "error_message",
        "index",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
    )
    NAME = "PartitionProduceResponse"
    VERSIONS = (3, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("index", "int32", (3, 13)),
        Field("error_code", "int16", (3, 13)),
        Field("base_offset", "int64", (3, 13)),
        Field("log_append_time_ms", "int64", (3, 13), ignorable=True, default=-1),
        Field("log_start_offset", "int64", (5, 13), ignorable=True, default=-1),
        Field("record_errors", BatchIndexAndErrorMessage, (8, 13), array=True, ignorable=True),
        Field("error_message", "string", (8, 13), nullable=(8, 13), ignorable=True, default=None),
        Field("current_leader", LeaderIdAndEpoch, (10, 13), tag=0, tagged=(10, 13)),
    )

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: Iterable[BatchIndexAndErrorMessage] = (),
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.index: int = index
        self.error_code: int = error_code
        self.base_offset: int = base_offset
        self.log_append_time_ms: int = log_append_time_ms
        self.log_start_offset: int = log_start_offset
        self.record_errors: list[BatchIndexAndErrorMessage] = (
            record_errors if isinstance(record_errors, list) else list(record_errors)
        )
        self.error_message: str | None = error_message
        self.current_leader: LeaderIdAndEpoch | None = current_leader


class TopicProduceResponse(Entity):
    __slots__ = (
        "name",
        "partition_responses",
        "topic_id",
    )
    NAME = "TopicProduceResponse"
    VERSIONS = (3, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("name", "string", (3, 12), ignorable=True),
        Field("topic_id", "uuid", (13, 13), ignorable=True),
        Field("partition_responses", PartitionProduceResponse, (3, 13), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_ID,
        partition_responses: Iterable[PartitionProduceResponse] = (),
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partition_responses: list[PartitionProduceResponse] = (
            partition_responses
            if isinstance(partition_responses, list)
            else list(partition_responses)
        )


class NodeEndpoint(Entity):
    __slots__ = (
        "host",
        "node_id",
        "port",
        "rack",
    )
    NAME = "NodeEndpoint"
    VERSIONS = (10, 13)
    FLEXIBLE = 9
    SCHEMA = (
        Field("node_id", "int32", (10, 13)),
        Field("host", "string", (10, 13)),
        Field("port", "int32", (10, 13)),
        Field("rack", "string", (10, 13), nullable=(10, 13), default=None),
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


class ProduceResponse(Entity):
    __slots__ = (
        "node_endpoints",
        "responses",
        "throttle_time_ms",
    )
    NAME = "ProduceResponse"
    VERSIONS = (3, 13)
    FLEXIBLE = 9
    API_KEY = 0
    SCHEMA = (
        Field("responses", TopicProduceResponse, (3, 13), array=True),
        Field("throttle_time_ms", "int32", (3, 13), ignorable=True),
        Field("node_endpoints", NodeEndpoint, (10, 13), array=True, tag=0, tagged=(10, 13)),
    )

    def __init__(
        self,
        *,
        responses: Iterable[TopicProduceResponse] = (),
        throttle_time_ms: int = 0,
        node_endpoints: Iterable[NodeEndpoint] = (),
    ) -> None:
        self.responses: list[TopicProduceResponse] = (
            responses if isinstance(responses, list) else list(responses)
        )
        self.throttle_time_ms: int = throttle_time_ms
        self.node_endpoints: list[NodeEndpoint] = (
            node_endpoints if isinstance(node_endpoints, list) else list(node_endpoints)
        )
