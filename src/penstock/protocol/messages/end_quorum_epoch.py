"""EndQuorumEpoch (number 54). Written by tools/generate_protocol.py.

EndQuorumEpochRequest 0-1, EndQuorumEpochResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class ReplicaInfo(Entity):
    __slots__ = (
        "candidate_directory_id",
        "candidate_id",
    )
    NAME = "ReplicaInfo"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("candidate_id", "int32", (1, 1)),
        Field("candidate_directory_id", "uuid", (1, 1)),
    )

    def __init__(
        self,
        *,
        candidate_id: int = 0,
        candidate_directory_id: bytes = ZERO_ID,
    ) -> None:
        self.candidate_id: int = candidate_id
        self.candidate_directory_id: bytes = candidate_directory_id


class RequestPartitionData(Entity):
    __slots__ = (
        "leader_epoch",
        "leader_id",
        "partition_index",
        "preferred_candidates",
        "preferred_successors",
    )
    NAME = "RequestPartitionData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("partition_index", "int32", (0, 1)),
        Field("leader_id", "int32", (0, 1)),
        Field("leader_epoch", "int32", (0, 1)),
        Field("preferred_successors", "int32", (0, 0), array=True, ignorable=True),
        Field("preferred_candidates", ReplicaInfo, (1, 1), array=True, ignorable=True),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        preferred_successors: Iterable[int] = (),
        preferred_candidates: Iterable[ReplicaInfo] = (),
    ) -> None:
        self.partition_index: int = partition_index
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.preferred_successors: list[int] = (
            preferred_successors
            if isinstance(preferred_successors, list)
            else list(preferred_successors)
        )
        self.preferred_candidates: list[ReplicaInfo] = (
            preferred_candidates
            if isinstance(preferred_candidates, list)
            else list(preferred_candidates)
        )


class RequestTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "RequestTopicData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic_name", "string", (0, 1)),
        Field("partitions", RequestPartitionData, (0, 1), array=True),
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


class LeaderEndpoint(Entity):
    __slots__ = (
        "host",
        "name",
        "port",
    )
    NAME = "LeaderEndpoint"
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("name", "string", (1, 1)),
        Field("host", "string", (1, 1)),
        Field("port", "uint16", (1, 1)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port


class EndQuorumEpochRequest(Entity):
    __slots__ = (
        "cluster_id",
        "leader_endpoints",
        "topics",
    )
    NAME = "EndQuorumEpochRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 54
    SCHEMA = (
        Field("cluster_id", "string", (0, 1), nullable=(0, 1), default=None),
        Field("topics", RequestTopicData, (0, 1), array=True),
        Field("leader_endpoints", LeaderEndpoint, (1, 1), array=True, ignorable=True),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        topics: Iterable[RequestTopicData] = (),
        leader_endpoints: Iterable[LeaderEndpoint] = (),
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.topics: list[RequestTopicData] = topics if isinstance(topics, list) else list(topics)
        self.leader_endpoints: list[LeaderEndpoint] = (
            leader_endpoints if isinstance(leader_endpoints, list) else list(leader_endpoints)
        )


class ResponsePartitionData(Entity):
    __slots__ = (
        "error_code",
        "leader_epoch",
        "leader_id",
        "partition_index",
    )
    NAME = "ResponsePartitionData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("partition_index", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("leader_id", "int32", (0, 1)),
        Field("leader_epoch", "int32", (0, 1)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch


class ResponseTopicData(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "ResponseTopicData"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic_name", "string", (0, 1)),
        Field("partitions", ResponsePartitionData, (0, 1), array=True),
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
    VERSIONS = (1, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("node_id", "int32", (1, 1)),
        Field("host", "string", (1, 1)),
        Field("port", "uint16", (1, 1)),
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


class EndQuorumEpochResponse(Entity):
    __slots__ = (
        "error_code",
        "node_endpoints",
        "topics",
    )
    NAME = "EndQuorumEpochResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 54
    SCHEMA = (
        Field("error_code", "int16", (0, 1)),
        Field("topics", ResponseTopicData, (0, 1), array=True),
        Field("node_endpoints", NodeEndpoint, (1, 1), array=True, tag=0, tagged=(1, 1)),
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
