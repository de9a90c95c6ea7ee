"""Requests and responses with their headers, as they cross a connection.

A frame here is everything behind the four-byte size; encoding puts the size in front. Sockets,
limits on frame size, and what to answer are others' business.
"""

from __future__ import annotations

from struct import Struct, error

from penstock.model.error import ProtocolError
from penstock.protocol.api import API_VERSIONS_KEY, ApiSpec
from penstock.protocol.api_table import APIS
from penstock.protocol.codec import Part, decoder, encoder, parts_encoder
from penstock.protocol.entity import Entity
from penstock.protocol.messages.header import RequestHeader
from penstock.protocol.source import has_records
from penstock.protocol.wire import Buffer, skip_tags

API_BY_KEY: dict[int, ApiSpec] = {spec.key: spec for spec in APIS}
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


def decode_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """Gives the header and where the body starts."""
    try:
        key, version, correlation_id, size = _unpack_fixed(frame)
    except error:
        return _decode_short_header(frame)
    spec = API_BY_KEY.get(key)
    if spec is None:
        raise ProtocolError(f"unknown api key {key}")
    header = object.__new__(RequestHeader)  # every field is set here, so __init__ would be waste
    header.request_api_key = key
    header.request_api_version = version
    header.correlation_id = correlation_id
    header.client_id = None
    if not spec.min_version <= version <= spec.max_version:
        raise UnsupportedVersion(header, spec)
    return header, _decode_header_rest(frame, header, spec, size)


def _decode_short_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """A frame that ends before the client id: worth an answer only for the version it names."""
    try:
        key, version, correlation_id = _unpack_start(frame)
    except error as cause:
        raise ProtocolError("truncated request header") from cause
    spec = API_BY_KEY.get(key)
    if spec is not None and not spec.supports(version):
        header = RequestHeader(
            request_api_key=key, request_api_version=version, correlation_id=correlation_id
        )
        raise UnsupportedVersion(header, spec)
    raise ProtocolError("truncated request header")


def _decode_header_rest(frame: Buffer, header: RequestHeader, spec: ApiSpec, size: int) -> int:
    pos = 10
    try:
        if size >= 0:
            header.client_id = str(frame[10 : 10 + size], "utf-8")
            pos += size
        elif size != -1:
            raise ProtocolError("client id has a length that cannot be")
        flexible_from = spec.request_flexible_from
        if flexible_from is not None and header.request_api_version >= flexible_from:
            pos = skip_tags(frame, pos) if frame[pos] else pos + 1
    except (IndexError, ValueError) as cause:
        raise ProtocolError(f"malformed request header: {cause}") from cause
    if pos > len(frame):
        raise ProtocolError("truncated request header")
    return pos


def decode_request(frame: Buffer) -> tuple[RequestHeader, Entity]:
    """Header and body. Bytes behind the body are let be, as Kafka does."""
    header, pos = decode_request_header(frame)
    cls = API_BY_KEY[header.request_api_key].request_class()
    body, _ = decoder(cls, header.request_api_version)(frame, pos)
    return header, body


def encode_response(correlation_id: int, api_key: int, version: int, message: Entity) -> list[Part]:
    """The whole frame with its size; a single part unless the message carries records."""
    cls = type(message)
    flexible = cls.FLEXIBLE
    tagged = flexible is not None and version >= flexible and api_key != API_VERSIONS_KEY
    if not _carries_records(cls):
        body = encoder(cls, version)(message)
        if tagged:
            return [_pack_header_1(len(body) + 5, correlation_id, 0) + body]
        return [_pack_header_0(len(body) + 4, correlation_id) + body]
    parts = parts_encoder(cls, version)(message)
    size = sum(map(len, parts))
    first = parts[0]
    assert isinstance(first, bytes)
    if tagged:
        parts[0] = _pack_header_1(size + 5, correlation_id, 0) + first
    else:
        parts[0] = _pack_header_0(size + 4, correlation_id) + first
    return parts


_records_by_class: dict[type[Entity], bool] = {}


def _carries_records(cls: type[Entity]) -> bool:
    known = _records_by_class.get(cls)
    if known is None:
        known = _records_by_class[cls] = has_records(cls)
    return known


# The client's side


def encode_request(
    correlation_id: int,
    version: int,
    message: Entity,
    client_id: str | None = None,
) -> bytes:
    """The whole frame with its size."""
    key = type(message).API_KEY
    if key is None:
        raise ValueError(f"{message.NAME} is not a request")
    flexible = API_BY_KEY[key].request_header_version(version) == 2
    client = b"" if client_id is None else client_id.encode()
    size = -1 if client_id is None else len(client)
    header = _pack_request(key, version, correlation_id, size) + client + b"\0" * flexible
    body = encoder(type(message), version)(message)
    return (len(header) + len(body)).to_bytes(4, "big") + header + body


def decode_response(api_key: int, version: int, frame: Buffer) -> tuple[int, Entity]:
    """Correlation id and body of a frame whose size was taken off."""
    spec = API_BY_KEY[api_key]
    if len(frame) < 4:
        raise ProtocolError("truncated response header")
    pos = 4
    correlation_id = int.from_bytes(frame[:4], "big", signed=True)
    if spec.response_header_version(version) == 1:
        try:
            pos = skip_tags(frame, pos)
        except IndexError as cause:
            raise ProtocolError("truncated response header") from cause
    body, _ = decoder(spec.response_class(), version)(frame, pos)
    return correlation_id, body
