"""A request as a server that a test plays takes it off the wire."""

from __future__ import annotations

from penstock.protocol.codec import decoder
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, decode_request_header
from penstock.protocol.messages.header import RequestHeader
from penstock.records.header import Buffer


def decode_request(frame: Buffer) -> tuple[RequestHeader, Entity]:
    """Header and body. Bytes behind the body are let be, as Kafka does."""
    header, pos = decode_request_header(frame)
    cls = API_BY_KEY[header.request_api_key].request_class()
    body, _ = decoder(cls, header.request_api_version)(frame, pos)
    return header, body
