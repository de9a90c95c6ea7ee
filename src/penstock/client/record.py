"""Records as the application sees them, and their JSON form on the wire. No network here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.client.error import DecodeError

Headers = Mapping[str, str | bytes | None] | Iterable[tuple[str, str | bytes | None]]


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where an acknowledged record stands."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    """Milliseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Spooled:
    """The record is on this machine's disk, and is sent as soon as writes are taken again."""

    topic: str


@dataclass(frozen=True, slots=True)
class Message:
    topic: str
    partition: int
    offset: int
    key: str | bytes | None
    """Text where the key is UTF-8, else its bytes."""
    value: Any
    """Decoded from JSON; None for a record without a value (a tombstone)."""
    timestamp: int
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)
    attempt: int = 1
    """1 at first; in an application, one more for each time that the record has failed."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A record to send, where a value alone does not say enough."""

    value: Any
    key: str | bytes | None = None
    headers: Headers | None = None
    topic: str | None = None
    """Another than the output of the consumer."""


def encode_key(key: str | bytes | None) -> bytes | None:
    return key.encode() if isinstance(key, str) else key


def decode_key(key: bytes | None) -> str | bytes | None:
    if key is None:
        return None
    try:
        return key.decode()
    except UnicodeDecodeError:
        return key


def encode_value(value: Any) -> bytes | None:
    """None stays a null value, so that compacted topics can be told to forget a key."""
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def encode_headers(headers: Headers | None) -> list[tuple[str, bytes | None]]:
    if headers is None:
        return []
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [(name, encode_key(value)) for name, value in pairs]


def decode_value(topic: str, partition: int, offset: int, value: bytes | None) -> Any:
    if value is None:
        return None
    try:
        return json.loads(value)
    except ValueError as error:
        raise DecodeError(topic, partition, offset, value) from error
