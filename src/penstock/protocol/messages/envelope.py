"""Envelope (number 58). Written by tools/generate_protocol.py.

EnvelopeRequest 0-0, EnvelopeResponse 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity, Field


class EnvelopeRequest(Entity):
    __slots__ = (
        "client_host_address",
        "request_data",
        "request_principal",
    )
    NAME = "EnvelopeRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 58
    SCHEMA = (
        Field("request_data", "bytes", (0, 0)),
        Field("request_principal", "bytes", (0, 0), nullable=(0, 0)),
        Field("client_host_address", "bytes", (0, 0)),
    )

    def __init__(
        self,
        *,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
    ) -> None:
        self.request_data: bytes = request_data
        self.request_principal: bytes | None = request_principal
        self.client_host_address: bytes = client_host_address


class EnvelopeResponse(Entity):
    __slots__ = (
        "error_code",
        "response_data",
    )
    NAME = "EnvelopeResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 58
    SCHEMA = (
        Field("response_data", "bytes", (0, 0), nullable=(0, 0), default=None),
        Field("error_code", "int16", (0, 0)),
    )

    def __init__(
        self,
        *,
        response_data: bytes | None = None,
        error_code: int = 0,
    ) -> None:
        self.response_data: bytes | None = response_data
        self.error_code: int = error_code
