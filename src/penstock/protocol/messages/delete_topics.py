"""DeleteTopics (number 20). Written by tools/generate_protocol.py.

DeleteTopicsRequest 1-6, DeleteTopicsResponse 1-6.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class DeleteTopicState(Entity):
    __slots__ = (
        "name",
        "topic_id",
    )
    NAME = "DeleteTopicState"
    VERSIONS = (6, 6)
    FLEXIBLE = 4
    SCHEMA = (
        Field("name", "string", (6, 6), nullable=(6, 6), default=None),
        Field("topic_id", "uuid", (6, 6)),
    )

    def __init__(
        self,
        *,
        name: str | None = None,
        topic_id: bytes = ZERO_ID,
    ) -> None:
        self.name: str | None = name
        self.topic_id: bytes = topic_id


class DeleteTopicsRequest(Entity):
    __slots__ = (
        "timeout_ms",
        "topic_names",
        "topics",
    )
    NAME = "DeleteTopicsRequest"
    VERSIONS = (1, 6)
    FLEXIBLE = 4
    API_KEY = 20
    SCHEMA = (
        Field("topics", DeleteTopicState, (6, 6), array=True),
        Field("topic_names", "string", (1, 5), array=True, ignorable=True),
        Field("timeout_ms", "int32", (1, 6)),
    )

    def __init__(
        self,
        *,
        topics: Iterable[DeleteTopicState] = (),
        topic_names: Iterable[str] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics: list[DeleteTopicState] = topics if isinstance(topics, list) else list(topics)
        self.topic_names: list[str] = (
            topic_names if isinstance(topic_names, list) else list(topic_names)
        )
        self.timeout_ms: int = timeout_ms


class DeletableTopicResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "name",
        "topic_id",
    )
    NAME = "DeletableTopicResult"
    VERSIONS = (1, 6)
    FLEXIBLE = 4
    SCHEMA = (
        Field("name", "string", (1, 6), nullable=(6, 6)),
        Field("topic_id", "uuid", (6, 6), ignorable=True),
        Field("error_code", "int16", (1, 6)),
        Field("error_message", "string", (5, 6), nullable=(5, 6), ignorable=True, default=None),
    )

    def __init__(
        self,
        *,
        name: str | None = "",
        topic_id: bytes = ZERO_ID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DeleteTopicsResponse(Entity):
    __slots__ = (
        "responses",
        "throttle_time_ms",
    )
    NAME = "DeleteTopicsResponse"
    VERSIONS = (1, 6)
    FLEXIBLE = 4
    API_KEY = 20
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 6), ignorable=True),
        Field("responses", DeletableTopicResult, (1, 6), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: Iterable[DeletableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.responses: list[DeletableTopicResult] = (
            responses if isinstance(responses, list) else list(responses)
        )
