"""Vote (number 52). Written by tools/generate_protocol.py.

VoteRequest 0-2, VoteResponse 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class RequestPartitionData(Entity):
    __slots__ = (
        "last_offset",
        "last_offset_epoch",
        "partition_index",
        "pre_vote",
        "replica_directory_id",
        "replica_epoch",
        "replica_id",
        "voter_directory_id",
    )
    NAME = "RequestPartitionData"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 2)),
        Field("replica_epoch", "int32", (0, 2)),
        Field("replica_id", "int32", (0, 2)),
        Field("replica_directory_id", "uuid", (1, 2), ignorable=True),
        Field("voter_directory_id", "uuid", (1, 2), ignorable=True),
        Field("last_offset_epoch", "int32", (0, 2)),
        Field("last_offset", "int64", (0, 2)),
        Field("pre_vote", "bool", (2, 2)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replica_epoch: int = 0,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_ID,
        voter_directory_id: bytes = ZERO_ID,
        last_offset_epoch: int = 0,
        last_offset: int = 0,
        pre_vote: bool = False,
    ) -> None:
        self.partition_index: int = partition_index
        self.replica_epoch: int = replica_epoch
        self.replica_id: int = replica_id
        self.replica_directory_id: bytes = replica_directory_id
        self.voter_directory_id: bytes = voter_directory_id
        self.last_offset_epoch: int = last_offset_epoch
        self.last_offset: int = last_offset
        self.pre_vote: bool = pre_vote


class RequestTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "RequestTopicData"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 2)),
        Field("partitions", RequestPartitionData, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: Iterable[RequestPartitionData] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[RequestPartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class VoteRequest(Entity):
    __slots__ = (
        "cluster_id",
        "topics",
        "voter_id",
    )
    NAME = "VoteRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 52
    SCHEMA = (
        Field("cluster_id", "string", (0, 2), nullable=(0, 2), default=None),
        Field("voter_id", "int32", (1, 2), ignorable=True, default=-1),
        Field("topics", RequestTopicData, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: Iterable[RequestTopicData] = (),
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.voter_id: int = voter_id
        self.topics: list[RequestTopicData] = topics if isinstance(topics, list) else list(topics)


class ResponsePartitionData(Entity):
    __slots__ = (
        "error_code",
        "leader_epoch",
        "leader_id",
        "partition_index",
        "vote_granted",
    )
    NAME = "ResponsePartitionData"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition_index", "int32", (0, 2)),
        Field("error_code", "int16", (0, 2)),
        Field("leader_id", "int32", (0, 2)),
        Field("leader_epoch", "int32", (0, 2)),
        Field("vote_granted", "bool", (0, 2)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        vote_granted: bool = False,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.vote_granted: bool = vote_granted


class ResponseTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "ResponseTopicData"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 2)),
        Field("partitions", ResponsePartitionData, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: Iterable[ResponsePartitionData] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[ResponsePartitionData] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class NodeEndpoint(Entity):
    __slots__ = (
        "host",
        "node_id",
        "port",
    )
    NAME = "NodeEndpoint"
    VERSIONS = (1, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("node_id", "int32", (1, 2)),
        Field("host", "string", (1, 2)),
        Field("port", "uint16", (1, 2)),
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port


class VoteResponse(Entity):
    __slots__ = (
        "error_code",
        "node_endpoints",
        "topics",
    )
    NAME = "VoteResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 52
    SCHEMA = (
        Field("error_code", "int16", (0, 2)),
        Field("topics", ResponseTopicData, (0, 2), array=True),
        Field("node_endpoints", NodeEndpoint, (1, 2), array=True, tag=0, tagged=(1, 2)),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: Iterable[ResponseTopicData] = (),
        node_endpoints: Iterable[NodeEndpoint] = (),
    ) -> None:
        self.error_code: int = error_code
        self.topics: list[ResponseTopicData] = topics if isinstance(topics, list) else list(topics)
        self.node_endpoints: list[NodeEndpoint] = (
            node_endpoints if isinstance(node_endpoints, list) else list(node_endpoints)
        )
