"""DeleteShareGroupOffsets (number 92). Written by tools/generate_protocol.py.

DeleteShareGroupOffsetsRequest 0-0, DeleteShareGroupOffsetsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class DeleteShareGroupOffsetsRequestTopic(Entity):
    __slots__ = ("topic_name",)
    NAME = "DeleteShareGroupOffsetsRequestTopic"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (Field("topic_name", "string", (0, 0)),)

    def __init__(
        self,
        *,
        topic_name: str = "",
    ) -> None:
        self.topic_name: str = topic_name


class DeleteShareGroupOffsetsRequest(Entity):
    __slots__ = (
        "group_id",
        "topics",
    )
    NAME = "DeleteShareGroupOffsetsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 92
    SCHEMA = (
        Field("group_id", "string", (0, 0)),
        Field("topics", DeleteShareGroupOffsetsRequestTopic, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Iterable[DeleteShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[DeleteShareGroupOffsetsRequestTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )


class DeleteShareGroupOffsetsResponseTopic(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "topic_id",
        "topic_name",
    )
    NAME = "DeleteShareGroupOffsetsResponseTopic"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic_name", "string", (0, 0)),
        Field("topic_id", "uuid", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_ID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.topic_name: str = topic_name
        self.topic_id: bytes = topic_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DeleteShareGroupOffsetsResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "responses",
        "throttle_time_ms",
    )
    NAME = "DeleteShareGroupOffsetsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 92
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("error_code", "int16", (0, 0)),
        Field("error_message", "string", (0, 0), nullable=(0, 0), default=None),
        Field("responses", DeleteShareGroupOffsetsResponseTopic, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Iterable[DeleteShareGroupOffsetsResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.responses: list[DeleteShareGroupOffsetsResponseTopic] = (
            responses if isinstance(responses, list) else list(responses)
        )
