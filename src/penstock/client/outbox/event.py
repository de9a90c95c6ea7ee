"""An event of the outbox: what is kept in the table, and what becomes of it on the wire. Pure."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from typing import Any

from penstock.client.record import Headers, encode_headers, encode_key, encode_value

EVENT_ID = "penstock.event.id"
"""The header that tells an event from every other, however often it is sent."""

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_HASH_MASK = 0x7FFF_FFFF


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the table."""

    id: int
    event_id: str
    topic: str
    key: bytes | None
    value: bytes | None
    headers: str | None
    created_ms: int

    def wire_headers(self) -> list[tuple[str, str | bytes | None]]:
        return [*decode_headers(self.headers), (EVENT_ID, self.event_id.encode())]


def require_topic(topic: str) -> None:
    """Refused here, in the user's transaction, where somebody can still do something about it."""
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise ValueError(f"not a name of a topic: {topic!r}")


def encode_event_value(value: Any) -> bytes | None:
    """Bytes as they are, None as a tombstone, everything else as JSON."""
    return bytes(value) if isinstance(value, bytes | bytearray) else encode_value(value)


def encode_event_key(key: str | bytes | None) -> bytes | None:
    return encode_key(key)


def keep_headers(headers: Headers | None) -> str | None:
    """As JSON, readable in the table: values are text."""
    pairs = encode_headers(headers)
    if not pairs:
        return None
    try:
        return json.dumps(
            [[name, None if value is None else value.decode()] for name, value in pairs]
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"headers of an outbox are text: {error}") from None


def decode_headers(kept: str | None) -> list[tuple[str, bytes | None]]:
    pairs = [] if kept is None else json.loads(kept)
    return [(name, None if value is None else value.encode()) for name, value in pairs]


def order_hash(topic: str, key: bytes) -> int:
    """Events with the same one go through the same shard, in order."""
    return zlib.crc32(key, zlib.crc32(topic.encode())) & _HASH_MASK
