"""What tells one event from all others, and keys for the outside that are derived from it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol

from penstock.client.outbox.event import EVENT_ID

_KEY_CHARACTERS = 32


class Received(Protocol):
    """A `Message`, or anything that stands in a topic like one."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


def event_id(message: Received) -> str:
    """The header `penstock.event.id`, which every event of an outbox has; without it the record's
    place, which tells a record read again, but not an event sent again."""
    for name, value in message.headers:
        if name == EVENT_ID and value:
            return value.decode(errors="replace")
    return f"{message.topic}/{message.partition}/{message.offset}"


def idempotency_key(message: Received, call: str) -> str:
    """The same for the same event and call, however often and wherever it is processed: for
    services that do nothing the second time they see a key."""
    digest = hashlib.sha256(f"{call}\0{event_id(message)}".encode())
    return digest.hexdigest()[:_KEY_CHARACTERS]
