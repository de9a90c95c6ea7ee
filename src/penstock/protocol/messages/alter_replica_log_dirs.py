"""AlterReplicaLogDirs (number 34). Written by tools/generate_protocol.py.

AlterReplicaLogDirsRequest 1-2, AlterReplicaLogDirsResponse 1-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class AlterReplicaLogDirTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "AlterReplicaLogDirTopic"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("name", "string", (1, 2)),
        Field("partitions", "int32", (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AlterReplicaLogDir(Entity):
    __slots__ = (
        "path",
        "topics",
    )
    NAME = "AlterReplicaLogDir"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("path", "string", (1, 2)),
        Field("topics", AlterReplicaLogDirTopic, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        path: str = "",
        topics: Iterable[AlterReplicaLogDirTopic] = (),
    ) -> None:
        self.path: str = path
        self.topics: list[AlterReplicaLogDirTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )


class AlterReplicaLogDirsRequest(Entity):
    __slots__ = ("dirs",)
    NAME = "AlterReplicaLogDirsRequest"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    API_KEY = 34
    SCHEMA = (Field("dirs", AlterReplicaLogDir, (1, 2), array=True),)

    def __init__(
        self,
        *,
        dirs: Iterable[AlterReplicaLogDir] = (),
    ) -> None:
        self.dirs: list[AlterReplicaLogDir] = dirs if isinstance(dirs, list) else list(dirs)


class AlterReplicaLogDirPartitionResult(Entity):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    NAME = "AlterReplicaLogDirPartitionResult"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("partition_index", "int32", (1, 2)),
        Field("error_code", "int16", (1, 2)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class AlterReplicaLogDirTopicResult(Entity):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    NAME = "AlterReplicaLogDirTopicResult"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("topic_name", "string", (1, 2)),
        Field("partitions", AlterReplicaLogDirPartitionResult, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: Iterable[AlterReplicaLogDirPartitionResult] = (),
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[AlterReplicaLogDirPartitionResult] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AlterReplicaLogDirsResponse(Entity):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    NAME = "AlterReplicaLogDirsResponse"
    VERSIONS = (1, 2)
    FLEXIBLE = 2
    API_KEY = 34
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 2)),
        Field("results", AlterReplicaLogDirTopicResult, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Iterable[AlterReplicaLogDirTopicResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[AlterReplicaLogDirTopicResult] = (
            results if isinstance(results, list) else list(results)
        )
