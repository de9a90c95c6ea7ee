"""Names and identifiers shared by every layer."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple

TopicId = bytes
"""Sixteen raw bytes, as on the wire: cheaper to carry and compare than uuid.UUID."""

ZERO_ID: TopicId = bytes(16)

NODE_ID_MAX = (1 << 31) - 1


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def id_to_str(value: TopicId) -> str:
    """Kafka's text form: url-safe base64 without padding, 22 characters."""
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def id_from_str(text: str) -> TopicId:
    value = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(value) != 16:
        raise ValueError(f"not a 16-byte id: {text!r}")
    return value


def uuid_to_str(value: bytes) -> str:
    """Sixteen random bytes as the text of a random UUID (version 4)."""
    marked = bytearray(value)
    marked[6] = marked[6] & 0x0F | 0x40
    marked[8] = marked[8] & 0x3F | 0x80
    digits = marked.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
