"""FetchSnapshot (number 59). Written by tools/generate_protocol.py.

FetchSnapshotRequest 0-1, FetchSnapshotResponse 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class RequestSnapshotId(Entity):
    __slots__ = (
        "end_offset",
        "epoch",
    )
    NAME = "RequestSnapshotId"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("end_offset", "int64", (0, 1)),
        Field("epoch", "int32", (0, 1)),
    )

    def __init__(
        self,
        *,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset: int = end_offset
        self.epoch: int = epoch


class RequestPartitionSnapshot(Entity):
    __slots__ = (
        "current_leader_epoch",
        "partition",
        "position",
        "replica_directory_id",
        "snapshot_id",
    )
    NAME = "RequestPartitionSnapshot"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("partition", "int32", (0, 1)),
        Field("current_leader_epoch", "int32", (0, 1)),
        Field("snapshot_id", RequestSnapshotId, (0, 1)),
        Field("position", "int64", (0, 1)),
        Field("replica_directory_id", "uuid", (1, 1), tag=0, tagged=(1, 1), ignorable=True),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: RequestSnapshotId | None = None,
        position: int = 0,
        replica_directory_id: bytes = ZERO_ID,
    ) -> None:
        self.partition: int = partition
        self.current_leader_epoch: int = current_leader_epoch
        self.snapshot_id: RequestSnapshotId = (
            RequestSnapshotId() if snapshot_id is None else snapshot_id
        )
        self.position: int = position
        self.replica_directory_id: bytes = replica_directory_id


class RequestTopicSnapshot(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "RequestTopicSnapshot"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 1)),
        Field("partitions", RequestPartitionSnapshot, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[RequestPartitionSnapshot] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[RequestPartitionSnapshot] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class FetchSnapshotRequest(Entity):
    __slots__ = (
        "cluster_id",
        "max_bytes",
        "replica_id",
        "topics",
    )
    NAME = "FetchSnapshotRequest"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 59
    SCHEMA = (
        Field("cluster_id", "string", (0, 1), nullable=(0, 1), tag=0, tagged=(0, 1), default=None),
        Field("replica_id", "int32", (0, 1), default=-1),
        Field("max_bytes", "int32", (0, 1), default=2147483647),
        Field("topics", RequestTopicSnapshot, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: Iterable[RequestTopicSnapshot] = (),
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.replica_id: int = replica_id
        self.max_bytes: int = max_bytes
        self.topics: list[RequestTopicSnapshot] = (
            topics if isinstance(topics, list) else list(topics)
        )


class ResponseSnapshotId(Entity):
    __slots__ = (
        "end_offset",
        "epoch",
    )
    NAME = "ResponseSnapshotId"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("end_offset", "int64", (0, 1)),
        Field("epoch", "int32", (0, 1)),
    )

    def __init__(
        self,
        *,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset: int = end_offset
        self.epoch: int = epoch


class LeaderIdAndEpoch(Entity):
    __slots__ = (
        "leader_epoch",
        "leader_id",
    )
    NAME = "LeaderIdAndEpoch"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("leader_id", "int32", (0, 1)),
        Field("leader_epoch", "int32", (0, 1)),
    )

    def __init__(
        self,
        *,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch


class ResponsePartitionSnapshot(Entity):
    __slots__ = (
        "current_leader",
        "error_code",
        "index",
        "position",
        "size",
        "snapshot_id",
        "unaligned_records",
    )
    NAME = "ResponsePartitionSnapshot"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("index", "int32", (0, 1)),
        Field("error_code", "int16", (0, 1)),
        Field("snapshot_id", ResponseSnapshotId, (0, 1)),
        Field("current_leader", LeaderIdAndEpoch, (0, 1), tag=0, tagged=(0, 1)),
        Field("size", "int64", (0, 1)),
        Field("position", "int64", (0, 1)),
        Field("unaligned_records", "records", (0, 1)),
    )

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: ResponseSnapshotId | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        size: int = 0,
        position: int = 0,
        unaligned_records: Sized = b"",
    ) -> None:
        self.index: int = index
        self.error_code: int = error_code
        self.snapshot_id: ResponseSnapshotId = (
            ResponseSnapshotId() if snapshot_id is None else snapshot_id
        )
        self.current_leader: LeaderIdAndEpoch | None = current_leader
        self.size: int = size
        self.position: int = position
        self.unaligned_records: Sized = unaligned_records


class ResponseTopicSnapshot(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "ResponseTopicSnapshot"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 1)),
        Field("partitions", ResponsePartitionSnapshot, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[ResponsePartitionSnapshot] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[ResponsePartitionSnapshot] = (
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
    FLEXIBLE = 0
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


class FetchSnapshotResponse(Entity):
    __slots__ = (
        "error_code",
        "node_endpoints",
        "throttle_time_ms",
        "topics",
    )
    NAME = "FetchSnapshotResponse"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    API_KEY = 59
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 1), ignorable=True),
        Field("error_code", "int16", (0, 1)),
        Field("topics", ResponseTopicSnapshot, (0, 1), array=True),
        Field("node_endpoints", NodeEndpoint, (1, 1), array=True, tag=0, tagged=(1, 1)),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Iterable[ResponseTopicSnapshot] = (),
        node_endpoints: Iterable[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.topics: list[ResponseTopicSnapshot] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.node_endpoints: list[NodeEndpoint] = (
            node_endpoints if isinstance(node_endpoints, list) else list(node_endpoints)
        )
