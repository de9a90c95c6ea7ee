<<<<<<< HEAD
"""One request to one broker over our own connection, for what confluent-kafka has no call for."""
=======
"""One request to one broker over a socket of our own, for what confluent-kafka has no call for."""
>>>>>>> tls

from __future__ import annotations

import socket
<<<<<<< HEAD
from typing import TYPE_CHECKING, TypeVar
=======
from collections.abc import Mapping
from typing import TypeVar
>>>>>>> tls

from penstock.cli.failure import Failure
from penstock.model.error import ProtocolError
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, decode_response, encode_request
from penstock.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
<<<<<<< HEAD
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
=======
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from penstock.protocol.messages.sasl_handshake import SaslHandshakeResponse

T = TypeVar("T", bound=Entity)
_RESPONSE_BYTES_MAX = 1 << 30
_OPEN: Mapping[str, str] = {}
"""Settings of a client where nobody is asked who they are."""
>>>>>>> tls


class Unreachable(Failure):
    """Nothing answered; another broker may."""


<<<<<<< HEAD
def call(connect: Connect, host: str, port: int, request: Entity, answer: type[T]) -> T:
    """The broker's answer, in the newest version both sides know."""
    try:
        with connect(host, port) as connection:
=======
def call(
    host: str,
    port: int,
    request: Entity,
    answer: type[T],
    timeout_s: float,
    settings: Mapping[str, str] = _OPEN,
) -> T:
    """The broker's answer, in the newest version both sides know. `settings` are librdkafka's."""
    try:
        with (
            socket.create_connection((host, port), timeout=timeout_s) as plain,
            encrypted(plain, host, settings) as connection,
        ):
>>>>>>> tls
            versions = _exchange(connection, ApiVersionsRequest(), 0, ApiVersionsResponse)
            return _exchange(connection, request, _version(request, versions), answer)
    except (OSError, ProtocolError) as error:
        raise Unreachable(f"the broker at {host}:{port} did not answer: {error}") from error


<<<<<<< HEAD
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
=======
def _log_in(connection: socket.socket, settings: Mapping[str, str]) -> None:
    shaken = _exchange(connection, handshake(settings), HANDSHAKE_VERSION, SaslHandshakeResponse)
    check_handshake(settings, shaken)

    def send(token: bytes) -> bytes:
        request = token_request(token)
        return answer_of(
            _exchange(connection, request, AUTHENTICATE_VERSION, SaslAuthenticateResponse)
        )

    log_in(settings, send)


def api_versions(
    host: str, port: int, timeout_s: float, settings: Mapping[str, str] = _OPEN
) -> ApiVersionsResponse:
    """With the features that versions from 3 on carry."""
    request = ApiVersionsRequest(client_software_name="penstock-cli", client_software_version="0")
    return call(host, port, request, ApiVersionsResponse, timeout_s, settings)
>>>>>>> tls


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
<<<<<<< HEAD
        raise ProtocolError("it does not speak Kafka's protocol, or not in plain text")
=======
        raise ProtocolError("it does not speak Kafka's protocol, or not by this security.protocol")
>>>>>>> tls
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
