"""FindCoordinator (number 10). Written by tools/generate_protocol.py.

FindCoordinatorRequest 0-6, FindCoordinatorResponse 0-6.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class FindCoordinatorRequest(Entity):
    __slots__ = (
        "coordinator_keys",
        "key",
        "key_type",
    )
    NAME = "FindCoordinatorRequest"
    VERSIONS = (0, 6)
    FLEXIBLE = 3
    API_KEY = 10
    SCHEMA = (
        Field("key", "string", (0, 3)),
        Field("key_type", "int8", (1, 6)),
        Field("coordinator_keys", "string", (4, 6), array=True),
    )

    def __init__(
        self,
        *,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: Iterable[str] = (),
    ) -> None:
        self.key: str = key
        self.key_type: int = key_type
        self.coordinator_keys: list[str] = (
            coordinator_keys if isinstance(coordinator_keys, list) else list(coordinator_keys)
        )


class Coordinator(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "host",
        "key",
        "node_id",
        "port",
    )
    NAME = "Coordinator"
    VERSIONS = (4, 6)
    FLEXIBLE = 3
    SCHEMA = (
        Field("key", "string", (4, 6)),
        Field("node_id", "int32", (4, 6)),
        Field("host", "string", (4, 6)),
        Field("port", "int32", (4, 6)),
        Field("error_code", "int16", (4, 6)),
        Field("error_message", "string", (4, 6), nullable=(4, 6), ignorable=True),
    )

    def __init__(
        self,
        *,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.key: str = key
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class FindCoordinatorResponse(Entity):
    __slots__ = (
        "coordinators",
        "error_code",
        "error_message",
        "host",
        "node_id",
        "port",
        "throttle_time_ms",
    )
    NAME = "FindCoordinatorResponse"
    VERSIONS = (0, 6)
    FLEXIBLE = 3
    API_KEY = 10
    SCHEMA = (
        Field("throttle_time_ms", "int32", (1, 6), ignorable=True),
        Field("error_code", "int16", (0, 3)),
        Field("error_message", "string", (1, 3), nullable=(1, 3), ignorable=True),
        Field("node_id", "int32", (0, 3)),
        Field("host", "string", (0, 3)),
        Field("port", "int32", (0, 3)),
        Field("coordinators", Coordinator, (4, 6), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: Iterable[Coordinator] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.coordinators: list[Coordinator] = (
            coordinators if isinstance(coordinators, list) else list(coordinators)
        )
