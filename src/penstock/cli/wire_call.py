"""Requests to one broker over our own connection, for what confluent-kafka has no call for."""

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


class BrokerConnection:
    """For several requests to one broker, one after the other."""

    def __init__(self, connect: Connect, host: str, port: int) -> None:
        self._where = f"{host}:{port}"
        try:
            self._socket = connect(host, port)
        except OSError as error:
            raise self._unreachable(error) from error
        try:
            self._versions = self._exchange(ApiVersionsRequest(), 0, ApiVersionsResponse)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> BrokerConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, request: Entity, answer: type[T], version_max: int | None = None) -> T:
        """In the newest version both sides know, up to `version_max`."""
        return self._exchange(request, _version(request, self._versions, version_max), answer)

    def _exchange(self, request: Entity, version: int, answer: type[T]) -> T:
        try:
            return _exchange(self._socket, request, version, answer)
        except (OSError, ProtocolError) as error:
            raise self._unreachable(error) from error
        except ValueError as error:
            said = f"{request.NAME.removesuffix('Request')} {error}"
            raise Failure(f"the broker at {self._where} is too old for this: {said}") from error

    def _unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(f"the broker at {self._where} did not answer: {error}")

    def close(self) -> None:
        self._socket.close()


def call(connect: Connect, host: str, port: int, request: Entity, answer: type[T]) -> T:
    """The broker's answer, in the newest version both sides know."""
    with BrokerConnection(connect, host, port) as connection:
        return connection.call(request, answer)


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


def _version(request: Entity, versions: ApiVersionsResponse, version_max: int | None) -> int:
    key = request.API_KEY
    assert key is not None
    for each in versions.api_keys:
        if each.api_key == key:
            ours = API_BY_KEY[key].max_stable_version
            return min(each.max_version, ours if version_max is None else version_max)
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


def _receive(connection: socket.socket, size: int) -> bytes | bytearray:
    received = bytearray(size)
    with memoryview(received) as room:
        done = 0
        while done < size:
            count = connection.recv_into(room[done:])
            if not count:
                raise ProtocolError("it closed the connection")
            done += count
    return received
