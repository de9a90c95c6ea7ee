"""CreateTopics (number 19). Written by tools/generate_protocol.py.

CreateTopicsRequest 2-7, CreateTopicsResponse 2-7.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class CreatableReplicaAssignment(Entity):
    __slots__ = (
        "broker_ids",
        "partition_index",
    )
    NAME = "CreatableReplicaAssignment"
    VERSIONS = (2, 7)
    FLEXIBLE = 5
    SCHEMA = (
        Field("partition_index", "int32", (2, 7)),
        Field("broker_ids", "int32", (2, 7), array=True),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        broker_ids: Iterable[int] = (),
    ) -> None:
        self.partition_index: int = partition_index
        self.broker_ids: list[int] = (
            broker_ids if isinstance(broker_ids, list) else list(broker_ids)
        )


class CreatableTopicConfig(Entity):
    __slots__ = (
        "name",
        "value",
    )
    NAME = "CreatableTopicConfig"
    VERSIONS = (2, 7)
    FLEXIBLE = 5
    SCHEMA = (
        Field("name", "string", (2, 7)),
        Field("value", "string", (2, 7), nullable=(2, 7)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name: str = name
        self.value: str | None = value


class CreatableTopic(Entity):
    __slots__ = (
        "assignments",
        "configs",
        "name",
        "num_partitions",
        "replication_factor",
    )
    NAME = "CreatableTopic"
    VERSIONS = (2, 7)
    FLEXIBLE = 5
    SCHEMA = (
        Field("name", "string", (2, 7)),
        Field("num_partitions", "int32", (2, 7)),
        Field("replication_factor", "int16", (2, 7)),
        Field("assignments", CreatableReplicaAssignment, (2, 7), array=True),
        Field("configs", CreatableTopicConfig, (2, 7), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: Iterable[CreatableReplicaAssignment] = (),
        configs: Iterable[CreatableTopicConfig] = (),
    ) -> None:
        self.name: str = name
        self.num_partitions: int = num_partitions
        self.replication_factor: int = replication_factor
        self.assignments: list[CreatableReplicaAssignment] = (
            assignments if isinstance(assignments, list) else list(assignments)
        )
        self.configs: list[CreatableTopicConfig] = (
            configs if isinstance(configs, list) else list(configs)
        )


class CreateTopicsRequest(Entity):
    __slots__ = (
        "timeout_ms",
        "topics",
        "validate_only",
    )
    NAME = "CreateTopicsRequest"
    VERSIONS = (2, 7)
    FLEXIBLE = 5
    API_KEY = 19
    SCHEMA = (
        Field("topics", CreatableTopic, (2, 7), array=True),
        Field("timeout_ms", "int32", (2, 7), default=60000),
        Field("validate_only", "bool", (2, 7)),
    )

    def __init__(
        self,
        *,
        topics: Iterable[CreatableTopic] = (),
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics: list[CreatableTopic] = topics if isinstance(topics, list) else list(topics)
        self.timeout_ms: int = timeout_ms
        self.validate_only: bool = validate_only


class CreatableTopicConfigs(Entity):
    __slots__ = (
        "config_source",
        "is_sensitive",
        "name",
        "read_only",
        "value",
    )
    NAME = "CreatableTopicConfigs"
    VERSIONS = (5, 7)
    FLEXIBLE = 5
    SCHEMA = (
        Field("name", "string", (5, 7)),
        Field("value", "string", (5, 7), nullable=(5, 7)),
        Field("read_only", "bool", (5, 7)),
        Field("config_source", "int8", (5, 7), ignorable=True, default=-1),
        Field("is_sensitive", "bool", (5, 7)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.read_only: bool = read_only
        self.config_source: int = config_source
        self.is_sensitive: bool = is_sensitive


class CreatableTopicResult(Entity):
    __slots__ = (
        "configs",
        "error_code",
        "error_message",
        "name",
        "num_partitions",
        "replication_factor",
        "topic_config_error_code",
        "topic_id",
    )
    NAME = "CreatableTopicResult"
    VERSIONS = (2, 7)
    FLEXIBLE = 5
    SCHEMA = (
        Field("name", "string", (2, 7)),
        Field("topic_id", "uuid", (7, 7), ignorable=True),
        Field("error_code", "int16", (2, 7)),
        Field("error_message", "string", (2, 7), nullable=(2, 7), ignorable=True),
        Field("topic_config_error_code", "int16", (5, 7), tag=0, tagged=(5, 7), ignorable=True),
        Field("num_partitions", "int32", (5, 7), ignorable=True, default=-1),
        Field("replication_factor", "int16", (5, 7), ignorable=True, default=-1),
        Field(
            "configs", CreatableTopicConfigs, (5, 7), array=True, nullable=(5, 7), ignorable=True
        ),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_ID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: Iterable[CreatableTopicConfigs] | None = (),
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topic_config_error_code: int = topic_config_error_code
        self.num_partitions: int = num_partitions
        self.replication_factor: int = replication_factor
        self.configs: list[CreatableTopicConfigs] | None = (
            configs if configs is None or isinstance(configs, list) else list(configs)
        )


class CreateTopicsResponse(Entity):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    NAME = "CreateTopicsResponse"
    VERSIONS = (2, 7)
    FLEXIBLE = 5
    API_KEY = 19
    SCHEMA = (
        Field("throttle_time_ms", "int32", (2, 7), ignorable=True),
        Field("topics", CreatableTopicResult, (2, 7), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Iterable[CreatableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[CreatableTopicResult] = (
            topics if isinstance(topics, list) else list(topics)
        )
