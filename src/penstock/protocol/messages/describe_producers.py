"""DescribeProducers (number 61). Written by tools/generate_protocol.py.

DescribeProducersRequest 0-0, DescribeProducersResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class TopicRequest(Entity):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    NAME = "TopicRequest"
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


class DescribeProducersRequest(Entity):
    __slots__ = ("topics",)
    NAME = "DescribeProducersRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 61
    SCHEMA = (Field("topics", TopicRequest, (0, 0), array=True),)

    def __init__(
        self,
        *,
        topics: Iterable[TopicRequest] = (),
    ) -> None:
        self.topics: list[TopicRequest] = topics if isinstance(topics, list) else list(topics)


class ProducerState(Entity):
    __slots__ = (
        "coordinator_epoch",
        "current_txn_start_offset",
        "last_sequence",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )
    NAME = "ProducerState"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("producer_id", "int64", (0, 0)),
        Field("producer_epoch", "int32", (0, 0)),
        Field("last_sequence", "int32", (0, 0), default=-1),
        Field("last_timestamp", "int64", (0, 0), default=-1),
        Field("coordinator_epoch", "int32", (0, 0)),
        Field("current_txn_start_offset", "int64", (0, 0), default=-1),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.last_sequence: int = last_sequence
        self.last_timestamp: int = last_timestamp
        self.coordinator_epoch: int = coordinator_epoch
        self.current_txn_start_offset: int = current_txn_start_offset


class PartitionResponse(Entity):
    __slots__ = (
        "active_producers",
        "error_code",
        "error_message",
        "partition_index",
    )
    NAME = "PartitionResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
        Field("active_producers", ProducerState, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: Iterable[ProducerState] = (),
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.active_producers: list[ProducerState] = (
            active_producers if isinstance(active_producers, list) else list(active_producers)
        )


class TopicResponse(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "TopicResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("partitions", PartitionResponse, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[PartitionResponse] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[PartitionResponse] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DescribeProducersResponse(Entity):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    NAME = "DescribeProducersResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 61
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("topics", TopicResponse, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[TopicResponse] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[TopicResponse] = topics if isinstance(topics, list) else list(topics)
