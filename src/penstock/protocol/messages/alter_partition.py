"""AlterPartition (number 56). Written by tools/generate_protocol.py.

AlterPartitionRequest 2-3, AlterPartitionResponse 2-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class BrokerState(Entity):
    __slots__ = (
        "broker_epoch",
        "broker_id",
    )
    NAME = "BrokerState"
    VERSIONS = (3, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("broker_id", "int32", (3, 3)),
        Field("broker_epoch", "int64", (3, 3), default=-1),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch


class RequestPartitionData(Entity):
    __slots__ = (
        "leader_epoch",
        "leader_recovery_state",
        "new_isr",
        "new_isr_with_epochs",
        "partition_epoch",
        "partition_index",
    )
    NAME = "RequestPartitionData"
    VERSIONS = (2, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("partition_index", "int32", (2, 3)),
        Field("leader_epoch", "int32", (2, 3)),
        Field("new_isr", "int32", (2, 2), array=True),
        Field("new_isr_with_epochs", BrokerState, (3, 3), array=True),
        Field("leader_recovery_state", "int8", (2, 3)),
        Field("partition_epoch", "int32", (2, 3)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: Iterable[int] = (),
        new_isr_with_epochs: Iterable[BrokerState] = (),
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.leader_epoch: int = leader_epoch
        self.new_isr: list[int] = new_isr if isinstance(new_isr, list) else list(new_isr)
        self.new_isr_with_epochs: list[BrokerState] = (
            new_isr_with_epochs
            if isinstance(new_isr_with_epochs, list)
            else list(new_isr_with_epochs)
        )
        self.leader_recovery_state: int = leader_recovery_state
        self.partition_epoch: int = partition_epoch


class RequestTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "RequestTopicData"
    VERSIONS = (2, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("topic_id", "uuid", (2, 3), ignorable=True),
        Field("partitions", RequestPartitionData, (2, 3), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[RequestPartitionData] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[RequestPartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AlterPartitionRequest(Entity):
    __slots__ = (
        "broker_epoch",
        "broker_id",
        "topics",
    )
    NAME = "AlterPartitionRequest"
    VERSIONS = (2, 3)
    FLEXIBLE = 2
    API_KEY = 56
    SCHEMA = (
        Field("broker_id", "int32", (2, 3)),
        Field("broker_epoch", "int64", (2, 3), default=-1),
        Field("topics", RequestTopicData, (2, 3), array=True),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: Iterable[RequestTopicData] = (),
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.topics: list[RequestTopicData] = topics if isinstance(topics, list) else list(topics)


class ResponsePartitionData(Entity):
    __slots__ = (
        "error_code",
        "isr",
        "leader_epoch",
        "leader_id",
        "leader_recovery_state",
        "partition_epoch",
        "partition_index",
    )
    NAME = "ResponsePartitionData"
    VERSIONS = (2, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("partition_index", "int32", (2, 3)),
        Field("error_code", "int16", (2, 3)),
        Field("leader_id", "int32", (2, 3)),
        Field("leader_epoch", "int32", (2, 3)),
        Field("isr", "int32", (2, 3), array=True),
        Field("leader_recovery_state", "int8", (2, 3), ignorable=True),
        Field("partition_epoch", "int32", (2, 3)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: Iterable[int] = (),
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.isr: list[int] = isr if isinstance(isr, list) else list(isr)
        self.leader_recovery_state: int = leader_recovery_state
        self.partition_epoch: int = partition_epoch


class ResponseTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    NAME = "ResponseTopicData"
    VERSIONS = (2, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("topic_id", "uuid", (2, 3), ignorable=True),
        Field("partitions", ResponsePartitionData, (2, 3), array=True),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_ID,
        partitions: Iterable[ResponsePartitionData] = (),
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[ResponsePartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AlterPartitionResponse(Entity):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "topics",
    )
    NAME = "AlterPartitionResponse"
    VERSIONS = (2, 3)
    FLEXIBLE = 2
    API_KEY = 56
    SCHEMA = (
        Field("throttle_time_ms", "int32", (2, 3)),
        Field("error_code", "int16", (2, 3)),
        Field("topics", ResponseTopicData, (2, 3), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Iterable[ResponseTopicData] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.topics: list[ResponseTopicData] = topics if isinstance(topics, list) else list(topics)
