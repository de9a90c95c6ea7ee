"""Requests and responses with their headers, as they cross a connection.

A frame here is everything behind the four-byte size; encoding puts the size in front. Sockets,
limits on frame size, and what to answer are others' business.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, error
from typing import Any, cast

from penstock.model.error import ProtocolError
from penstock.protocol.api import ApiSpec
from penstock.protocol.api_table import APIS
from penstock.protocol.codec import Part, decoder, encoder, parts_encoder
from penstock.protocol.encoder import compile_pieces_encoder
from penstock.protocol.entity import Entity
from penstock.protocol.messages.header import RequestHeader
from penstock.protocol.source import has_records
from penstock.protocol.wire import Buffer, skip_tags

API_BY_KEY: dict[int, ApiSpec] = {spec.key: spec for spec in APIS}
HEADER_TAGS_MAX = 100
"""Tagged fields of a header: none is defined so far."""

API_BY_NAME: dict[str, ApiSpec] = {spec.name: spec for spec in APIS}

_unpack_start = Struct(">hhi").unpack_from
_unpack_fixed = Struct(">hhih").unpack_from
_pack_header_0 = Struct(">ii").pack
_pack_header_1 = Struct(">iiB").pack
_pack_request = Struct(">hhih").pack


class UnsupportedVersion(ProtocolError):
    """A known API in a version that is not spoken here; the header tells whom to answer."""

    def __init__(self, header: RequestHeader, spec: ApiSpec) -> None:
        version = header.request_api_version
        super().__init__(
            f"{spec.name} version {version}, not {spec.min_version}-{spec.max_version}"
        )
        self.header = header
        self.spec = spec


def decode_request_start(frame: Buffer) -> tuple[int, int, int, int]:
    """Api key, version, correlation id, and the length of the client id that follows."""
    try:
        return cast(tuple[int, int, int, int], _unpack_fixed(frame))
    except error:
        raise _short_header(frame) from None


def decode_client_id(frame: Buffer, size: int, flexible: bool) -> tuple[str | None, int]:
    """The rest of the header: the client id, and where the body starts."""
    client_id = None
    pos = 10
    try:
        if size >= 0:
            pos += size
            client_id = str(frame[10:pos], "utf-8")
        elif size != -1:
            raise ProtocolError("client id has a length that cannot be")
        if flexible:
            pos = skip_tags(frame, pos, HEADER_TAGS_MAX)[0] if frame[pos] else pos + 1
    except (IndexError, ValueError) as cause:
        raise ProtocolError(f"malformed request header: {cause}") from cause
    if pos > len(frame):
        raise ProtocolError("truncated request header")
    return client_id, pos


def decode_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """Gives the header and where the body starts."""
    key, version, correlation_id, size = decode_request_start(frame)
    spec = API_BY_KEY.get(key)
    if spec is None:
        raise ProtocolError(f"unknown api key {key}")
    header = RequestHeader(
        request_api_key=key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=None,
    )
    if not spec.supports(version):
        raise UnsupportedVersion(header, spec)
    header.client_id, pos = decode_client_id(frame, size, spec.request_header_version(version) == 2)
    return header, pos


def _short_header(frame: Buffer) -> ProtocolError:
    """A frame that ends before the client id: worth an answer only for the version it names."""
    try:
        key, version, correlation_id = _unpack_start(frame)
    except error:
        return ProtocolError("truncated request header")
    spec = API_BY_KEY.get(key)
    if spec is None or spec.supports(version):
        return ProtocolError("truncated request header")
    header = RequestHeader(
        request_api_key=key, request_api_version=version, correlation_id=correlation_id
    )
    return UnsupportedVersion(header, spec)


Respond = Callable[[int, Any], list[Part]]
"""Makes the whole frame with its size, of a correlation id and a message: a single part unless the
message carries records."""


def response_encoder(spec: ApiSpec, version: int) -> Respond:
    """What is the same for all responses of an API in one version is settled here, once."""
    cls = spec.response_class()
    header = _header_1 if spec.response_header_version(version) == 1 else _header_0
    if not has_records(cls):
        encode = encoder(cls, version)

        def respond(correlation_id: int, message: Any) -> list[Part]:
            body = encode(message)
            return [header(correlation_id, len(body)) + body]

        return respond
    encode_parts = parts_encoder(cls, version)

    def respond_in_parts(correlation_id: int, message: Any) -> list[Part]:
        parts = encode_parts(message)
        first = parts[0]
        assert isinstance(first, bytes)
        parts[0] = header(correlation_id, sum(map(len, parts))) + first
        return parts

    return respond_in_parts


class PiecedResponse:
    """A response whose one long array is encoded as it is made: what was encoded already takes a
    fraction of what it was made of."""

    __slots__ = ("_correlation_id", "_count", "_encoder", "_pieces", "size_bytes")

    def __init__(self, encoder: PiecesEncoder, correlation_id: int) -> None:
        self._encoder = encoder
        self._correlation_id = correlation_id
        self._pieces: list[bytes] = []
        self._count = 0
        self.size_bytes = 0

    @property
    def array(self) -> str:
        return self._encoder.array

    def add(self, items: list[Any]) -> None:
        piece = self._encoder.elements(items)
        self._pieces.append(piece)
        self._count += len(items)
        self.size_bytes += len(piece)

    def finish(self, message: Any) -> list[Part]:
        """The whole frame; all that is not in the array is this message's."""
        before, behind = self._encoder.around(message, self._count)
        size_bytes = len(before) + self.size_bytes + len(behind)
        header = self._encoder.header(self._correlation_id, size_bytes)
        return [header + before, *self._pieces, behind]


class PiecesEncoder:
    __slots__ = ("around", "array", "elements", "header")

    def __init__(self, spec: ApiSpec, version: int, array: str) -> None:
        self.array = array
        self.elements, self.around = compile_pieces_encoder(spec.response_class(), version, array)
        self.header = _header_1 if spec.response_header_version(version) == 1 else _header_0


def _header_0(correlation_id: int, body_bytes: int) -> bytes:
    return _pack_header_0(body_bytes + 4, correlation_id)


def _header_1(correlation_id: int, body_bytes: int) -> bytes:
    return _pack_header_1(body_bytes + 5, correlation_id, 0)


def encode_response(correlation_id: int, api_key: int, version: int, message: Entity) -> list[Part]:
    return response_encoder(API_BY_KEY[api_key], version)(correlation_id, message)


# The client's side

_carries_records: dict[type[Entity], bool] = {}


def encode_request(
    correlation_id: int,
    version: int,
    message: Entity,
    client_id: str | None = None,
) -> bytes:
    """The whole frame with its size."""
    header = _request_header(correlation_id, version, message, client_id)
    body = encoder(type(message), version)(message)
    return (len(header) + len(body)).to_bytes(4, "big") + header + body


def encode_request_parts(
    correlation_id: int,
    version: int,
    message: Entity,
    client_id: str | None = None,
) -> list[Any]:
    """The same with records as parts of their own, untouched; without records a single part."""
    carries_records = _carries_records.get(type(message))
    if carries_records is None:
        carries_records = _carries_records[type(message)] = has_records(type(message))
    if not carries_records:
        return [encode_request(correlation_id, version, message, client_id)]
    header = _request_header(correlation_id, version, message, client_id)
    parts: list[Any] = list(parts_encoder(type(message), version)(message))
    size = len(header) + sum(map(len, parts))
    parts[0] = size.to_bytes(4, "big") + header + parts[0]
    return parts


def _request_header(
    correlation_id: int, version: int, message: Entity, client_id: str | None
) -> bytes:
    key = type(message).API_KEY
    if key is None:
        raise ValueError(f"{message.NAME} is not a request")
    flexible = API_BY_KEY[key].request_header_version(version) == 2
    client = b"" if client_id is None else client_id.encode()
    size = -1 if client_id is None else len(client)
    return _pack_request(key, version, correlation_id, size) + client + b"\0" * flexible


def decode_response(api_key: int, version: int, frame: Buffer) -> tuple[int, Entity]:
    """Correlation id and body of a frame whose size was taken off."""
    spec = API_BY_KEY[api_key]
    if len(frame) < 4:
        raise ProtocolError("truncated response header")
    pos = 4
    correlation_id = int.from_bytes(frame[:4], "big", signed=True)
    if spec.response_header_version(version) == 1:
        try:
            pos, _ = skip_tags(frame, pos, HEADER_TAGS_MAX)
        except IndexError as cause:
            raise ProtocolError("truncated response header") from cause
    body, _ = decoder(spec.response_class(), version)(frame, pos)
    return correlation_id, body
