"""CreatePartitions (number 37). Written by tools/generate_protocol.py.

CreatePartitionsRequest 0-3, CreatePartitionsResponse 0-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class CreatePartitionsAssignment(Entity):
    __slots__ = ("broker_ids",)
    NAME = "CreatePartitionsAssignment"
    VERSIONS = (0, 3)
    FLEXIBLE = 2
    SCHEMA = (Field("broker_ids", "int32", (0, 3), array=True),)

    def __init__(
        self,
        *,
        broker_ids: Iterable[int] = (),
    ) -> None:
        self.broker_ids: list[int] = (
            broker_ids if isinstance(broker_ids, list) else list(broker_ids)
        )


class CreatePartitionsTopic(Entity):
    __slots__ = (
        "assignments",
        "count",
        "name",
    )
    NAME = "CreatePartitionsTopic"
    VERSIONS = (0, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("name", "string", (0, 3)),
        Field("count", "int32", (0, 3)),
        Field("assignments", CreatePartitionsAssignment, (0, 3), array=True, nullable=(0, 3)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        count: int = 0,
        assignments: Iterable[CreatePartitionsAssignment] | None = (),
    ) -> None:
        self.name: str = name
        self.count: int = count
        self.assignments: list[CreatePartitionsAssignment] | None = (
            assignments
            if assignments is None or isinstance(assignments, list)
            else list(assignments)
        )


class CreatePartitionsRequest(Entity):
    __slots__ = (
        "timeout_ms",
        "topics",
        "validate_only",
    )
    NAME = "CreatePartitionsRequest"
    VERSIONS = (0, 3)
    FLEXIBLE = 2
    API_KEY = 37
    SCHEMA = (
        Field("topics", CreatePartitionsTopic, (0, 3), array=True),
        Field("timeout_ms", "int32", (0, 3)),
        Field("validate_only", "bool", (0, 3)),
    )

    def __init__(
        self,
        *,
        topics: Iterable[CreatePartitionsTopic] = (),
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics: list[CreatePartitionsTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.timeout_ms: int = timeout_ms
        self.validate_only: bool = validate_only


class CreatePartitionsTopicResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "name",
    )
    NAME = "CreatePartitionsTopicResult"
    VERSIONS = (0, 3)
    FLEXIBLE = 2
    SCHEMA = (
        Field("name", "string", (0, 3)),
        Field("error_code", "int16", (0, 3)),
        Field("error_message", "string", (0, 3), nullable=(0, 3), default=None),
    )

    def __init__(
        self,
        *,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name: str = name
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class CreatePartitionsResponse(Entity):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    NAME = "CreatePartitionsResponse"
    VERSIONS = (0, 3)
    FLEXIBLE = 2
    API_KEY = 37
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 3)),
        Field("results", CreatePartitionsTopicResult, (0, 3), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Iterable[CreatePartitionsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[CreatePartitionsTopicResult] = (
            results if isinstance(results, list) else list(results)
        )
