"""A client's request inside another, from a broker to the active controller (KIP-590).

Both sides: how a request and its principal are wrapped, and what the envelope's own errors mean.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from penstock.model.error import ApiError, ErrorCode, ProtocolError
from penstock.model.principal import Principal
from penstock.protocol.codec import decode, encode
from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from penstock.protocol.messages.records.default_principal_data import DefaultPrincipalData

FORWARDED: Final = frozenset(
    {19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 67, 80, 81}
)
"""What may be in an envelope: changes of metadata, and what only the controller knows."""

SIZE_BYTES: Final = 4
CORRELATION_ID: Final = 0
_VERSION: Final = (0).to_bytes(2, "big")


def pack(
    request: Entity, version: int, client_id: str | None, host: str, principal: Principal
) -> EnvelopeRequest:
    """`host` as the broker saw the client."""
    data = DefaultPrincipalData(type=principal.type, name=principal.name)
    return EnvelopeRequest(
        request_data=encode_request(CORRELATION_ID, version, request, client_id)[SIZE_BYTES:],
        request_principal=_VERSION + encode(data, 0),
        client_host_address=_packed(host),
    )


def _packed(host: str) -> bytes:
    try:
        return ip_address(host.lstrip("/").partition("%")[0]).packed
    except ValueError:
        return bytes(4)


def unpack_answer(request: Entity, version: int, response: EnvelopeResponse) -> Entity:
    """What the controller answered to the request inside. ApiError for what went wrong outside."""
    if response.error_code:
        code = ErrorCode(response.error_code)
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, f"the controller answered {code.name}")
    assert request.API_KEY is not None
    if response.response_data is None:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "the controller answered nothing")
    return decode_response(request.API_KEY, version, response.response_data)[1]


def principal_of(request: EnvelopeRequest) -> Principal:
    """ApiError for a principal that no broker of this kind writes."""
    data = request.request_principal
    try:
        if data is None or data[:2] != _VERSION:
            raise ProtocolError("a principal of an unknown version")
        found = decode(DefaultPrincipalData, 0, data, 2)[0]
    except (ProtocolError, IndexError, ValueError) as error:
        raise ApiError(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE, str(error)) from error
    return Principal(found.type, found.name)


def host_of(request: EnvelopeRequest) -> str:
    try:
        return str(ip_address(request.client_host_address))
    except ValueError as error:
        raise ApiError(ErrorCode.INVALID_REQUEST, "no address of a client") from error
