"""One request to one broker over our own connection, for what confluent-kafka has no call for."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, TypeVar

from penstock.cli.failure import Failure
from penstock.model.error import ProtocolError
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, decode_response, encode_request
from penstock.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from penstock.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

if TYPE_CHECKING:
    from penstock.cli.wire_security import Connect

T = TypeVar("T", bound=Entity)
_RESPONSE_BYTES_MAX = 1 << 30
_HANDSHAKE_VERSION = 1
_AUTHENTICATE_VERSION = 2


class Unreachable(Failure):
    """Nothing answered; another broker may."""


def call(connect: Connect, host: str, port: int, request: Entity, answer: type[T]) -> T:
    """The broker's answer, in the newest version both sides know."""
    try:
        with connect(host, port) as connection:
            versions = _exchange(connection, ApiVersionsRequest(), 0, ApiVersionsResponse)
            return _exchange(connection, request, _version(request, versions), answer)
    except (OSError, ProtocolError) as error:
        raise Unreachable(f"the broker at {host}:{port} did not answer: {error}") from error


def api_versions(connect: Connect, host: str, port: int) -> ApiVersionsResponse:
    """With the features that versions from 3 on carry."""
    request = ApiVersionsRequest(client_software_name="penstock-cli", client_software_version="0")
    return call(connect, host, port, request, ApiVersionsResponse)


def choose_mechanism(connection: socket.socket, mechanism: str) -> None:
    request = SaslHandshakeRequest(mechanism=mechanism)
    answer = _exchange(connection, request, _HANDSHAKE_VERSION, SaslHandshakeResponse)
    if answer.error_code:
        known = ", ".join(answer.mechanisms) or "none"
        raise Failure(f"{mechanism} is no way to log in there, which are: {known}")


def authenticate(connection: socket.socket, token: bytes) -> bytes:
    request = SaslAuthenticateRequest(auth_bytes=token)
    answer = _exchange(connection, request, _AUTHENTICATE_VERSION, SaslAuthenticateResponse)
    if answer.error_code:
        raise Failure(f"the login is refused: {answer.error_message or answer.error_code}")
    return bytes(answer.auth_bytes)


def _version(request: Entity, versions: ApiVersionsResponse) -> int:
    key = request.API_KEY
    assert key is not None
    for each in versions.api_keys:
        if each.api_key == key:
            return min(each.max_version, API_BY_KEY[key].max_stable_version)
    raise Failure(f"the broker does not offer {API_BY_KEY[key].name}")


def _exchange(connection: socket.socket, request: Entity, version: int, answer: type[T]) -> T:
    key = request.API_KEY
    assert key is not None
    connection.sendall(encode_request(1, version, request, "penstock-cli"))
    size = int.from_bytes(_receive(connection, 4), "big")
    if size > _RESPONSE_BYTES_MAX:
        raise ProtocolError("it does not speak Kafka's protocol, or not in plain text")
    _, body = decode_response(key, version, _receive(connection, size))
    assert isinstance(body, answer)
    return body


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = connection.recv(min(size - len(received), 1 << 20))
        if not chunk:
            raise ProtocolError("it closed the connection")
        received += chunk
    return bytes(received)
