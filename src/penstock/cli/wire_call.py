"""One request to one broker over a socket of our own, for what confluent-kafka has no call for."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TypeVar

from penstock.cli.failure import Failure
from penstock.cli.wire_login import (
    AUTHENTICATE_VERSION,
    HANDSHAKE_VERSION,
    answer_of,
    check_handshake,
    encrypted,
    handshake,
    has_login,
    log_in,
    token_request,
)
from penstock.model.error import ProtocolError
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, decode_response, encode_request
from penstock.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from penstock.protocol.messages.sasl_handshake import SaslHandshakeResponse

T = TypeVar("T", bound=Entity)
_RESPONSE_BYTES_MAX = 1 << 30
_OPEN: Mapping[str, str] = {}
"""Settings of a client where nobody is asked who they are."""


class Unreachable(Failure):
    """Nothing answered; another broker may."""


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
            versions = _exchange(connection, ApiVersionsRequest(), 0, ApiVersionsResponse)
            if has_login(settings):
                _log_in(connection, settings)
            return _exchange(connection, request, _version(request, versions), answer)
    except (OSError, ProtocolError) as error:
        raise Unreachable(f"the broker at {host}:{port} did not answer: {error}") from error


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
        raise ProtocolError("it does not speak Kafka's protocol, or not by this security.protocol")
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
