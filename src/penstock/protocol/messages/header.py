"""RequestHeader. Written by tools/generate_protocol.py.

RequestHeader 0-2, ResponseHeader 0-1.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class RequestHeader(Entity):
    __slots__ = (
        "client_id",
        "correlation_id",
        "request_api_key",
        "request_api_version",
    )
    NAME = "RequestHeader"
    VERSIONS = (0, 2)
    FLEXIBLE = 2
    SCHEMA = (
        Field("request_api_key", "int16", (0, 2)),
        Field("request_api_version", "int16", (0, 2)),
        Field("correlation_id", "int32", (0, 2)),
        Field("client_id", "string", (1, 2), nullable=(1, 2), compact=False),
    )

    def __init__(
        self,
        *,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
    ) -> None:
        self.request_api_key: int = request_api_key
        self.request_api_version: int = request_api_version
        self.correlation_id: int = correlation_id
        self.client_id: str | None = client_id


class ResponseHeader(Entity):
    __slots__ = ("correlation_id",)
    NAME = "ResponseHeader"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (Field("correlation_id", "int32", (0, 1)),)

    def __init__(
        self,
        *,
        correlation_id: int = 0,
    ) -> None:
        self.correlation_id: int = correlation_id
