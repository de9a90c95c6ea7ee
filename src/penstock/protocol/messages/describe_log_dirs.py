"""DescribeLogDirs (number 35). Written by tools/generate_protocol.py.

DescribeLogDirsRequest 1-5, DescribeLogDirsResponse 1-5.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DescribableLogDirTopic(Entity):
    __slots__ = (
        "partitions",
        "topic",
    )
    NAME = "DescribableLogDirTopic"
    VERSIONS = (1, 5)
    FLEXIBLE = 2
    SCHEMA = (
        Field("topic", "string", (1, 5)),
        Field("partitions", "int32", (1, 5), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DescribeLogDirsRequest(Entity):
    __slots__ = ("topics",)
    NAME = "DescribeLogDirsRequest"
    VERSIONS = (1, 5)
    FLEXIBLE = 2
    API_KEY = 35
    SCHEMA = (Field("topics", DescribableLogDirTopic, (1, 5), array=True, nullable=(1, 5)),)

    def __init__(
        self,
        *,
        topics: Iterable[DescribableLogDirTopic] | None = (),
    ) -> None:
        self.topics: list[DescribableLogDirTopic] | None = (
            topics if topics is None or isinstance(topics, list) else list(topics)
        )


class DescribeLogDirsPartition(Entity):
    __slots__ = (
        "is_future_key",
        "offset_lag",
        "partition_index",
        "partition_size",
    )
    NAME = "DescribeLogDirsPartition"
    VERSIONS = (1, 5)
    FLEXIBLE = 2
    SCHEMA = (
        Field("partition_index", "int32", (1, 5)),
        Field("partition_size", "int64", (1, 5)),
        Field("offset_lag", "int64", (1, 5)),
        Field("is_future_key", "bool", (1, 5)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index: int = partition_index
        self.partition_size: int = partition_size
        self.offset_lag: int = offset_lag
        self.is_future_key: bool = is_future_key


class DescribeLogDirsTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "DescribeLogDirsTopic"
    VERSIONS = (1, 5)
    FLEXIBLE = 2
    SCHEMA = (
        Field("name", "string", (1, 5)),
        Field("partitions", DescribeLogDirsPartition, (1, 5), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[DescribeLogDirsPartition] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[DescribeLogDirsPartition] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class DescribeLogDirsResult(Entity):
    __slots__ = (
        "error_code",
        "is_cordoned",
        "log_dir",
        "topics",
        "total_bytes",
        "usable_bytes",
    )
    NAME = "DescribeLogDirsResult"
    VERSIONS = (1, 5)
    FLEXIBLE = 2
    SCHEMA = (
        Field("error_code", "int16", (1, 5)),
        Field("log_dir", "string", (1, 5)),
        Field("topics", DescribeLogDirsTopic, (1, 5), array=True),
        Field("total_bytes", "int64", (4, 5), ignorable=True, default=-1),
        Field("usable_bytes", "int64", (4, 5), ignorable=True, default=-1),
        Field("is_cordoned", "bool", (5, 5), ignorable=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        log_dir: str = "",
        topics: Iterable[DescribeLogDirsTopic] = (),
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
    ) -> None:
        self.error_code: int = error_code
        self.log_dir: str = log_dir
        self.topics: list[DescribeLogDirsTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.total_bytes: int = total_bytes
        self.usable_bytes: int = usable_bytes
        self.is_cordoned: bool = is_cordoned


class DescribeLogDirsResponse(Entity):
    __slots__ = (
        "error_code",
        "results",
        "throttle_time_ms",
    )
    NAME = "DescribeLogDirsResponse"
    VERSIONS = (1, 5)
    FLEXIBLE = 2
    API_KEY = 35
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 5)),
        Field("error_code", "int16", (3, 5), ignorable=True),
        Field("results", DescribeLogDirsResult, (1, 5), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: Iterable[DescribeLogDirsResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.results: list[DescribeLogDirsResult] = (
            results if isinstance(results, list) else list(results)
        )
