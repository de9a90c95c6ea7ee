"""TxnOffsetCommit (number 28). Written by tools/generate_protocol.py.

TxnOffsetCommitRequest 0-5, TxnOffsetCommitResponse 0-5.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class TxnOffsetCommitRequestPartition(Entity):
    __slots__ = (
        "committed_leader_epoch",
        "committed_metadata",
        "committed_offset",
        "partition_index",
    )
    NAME = "TxnOffsetCommitRequestPartition"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("partition_index", "int32", (0, 5)),
        Field("committed_offset", "int64", (0, 5)),
        Field("committed_leader_epoch", "int32", (2, 5), ignorable=True, default=-1),
        Field("committed_metadata", "string", (0, 5), nullable=(0, 5)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index: int = partition_index
        self.committed_offset: int = committed_offset
        self.committed_leader_epoch: int = committed_leader_epoch
        self.committed_metadata: str | None = committed_metadata


class TxnOffsetCommitRequestTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "TxnOffsetCommitRequestTopic"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("name", "string", (0, 5)),
        Field("partitions", TxnOffsetCommitRequestPartition, (0, 5), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[TxnOffsetCommitRequestPartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[TxnOffsetCommitRequestPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class TxnOffsetCommitRequest(Entity):
    __slots__ = (
        "generation_id",
        "group_id",
        "group_instance_id",
        "member_id",
        "producer_epoch",
        "producer_id",
        "topics",
        "transactional_id",
    )
    NAME = "TxnOffsetCommitRequest"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    API_KEY = 28
    SCHEMA = (
        Field("transactional_id", "string", (0, 5)),
        Field("group_id", "string", (0, 5)),
        Field("producer_id", "int64", (0, 5)),
        Field("producer_epoch", "int16", (0, 5)),
        Field("generation_id", "int32", (3, 5), default=-1),
        Field("member_id", "string", (3, 5)),
        Field("group_instance_id", "string", (3, 5), nullable=(3, 5), default=None),
        Field("topics", TxnOffsetCommitRequestTopic, (0, 5), array=True),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: Iterable[TxnOffsetCommitRequestTopic] = (),
    ) -> None:
        self.transactional_id: str = transactional_id
        self.group_id: str = group_id
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.generation_id: int = generation_id
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.topics: list[TxnOffsetCommitRequestTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )


class TxnOffsetCommitResponsePartition(Entity):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    NAME = "TxnOffsetCommitResponsePartition"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("partition_index", "int32", (0, 5)),
        Field("error_code", "int16", (0, 5)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class TxnOffsetCommitResponseTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "TxnOffsetCommitResponseTopic"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("name", "string", (0, 5)),
        Field("partitions", TxnOffsetCommitResponsePartition, (0, 5), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[TxnOffsetCommitResponsePartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[TxnOffsetCommitResponsePartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class TxnOffsetCommitResponse(Entity):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    NAME = "TxnOffsetCommitResponse"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    API_KEY = 28
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 5)),
        Field("topics", TxnOffsetCommitResponseTopic, (0, 5), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[TxnOffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[TxnOffsetCommitResponseTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
