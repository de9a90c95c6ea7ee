"""The SASL mechanisms by their names, and what one of them does on the side of the server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, Protocol

GSSAPI: Final = "GSSAPI"
OAUTHBEARER: Final = "OAUTHBEARER"
PLAIN: Final = "PLAIN"
SCRAM_SHA_256: Final = "SCRAM-SHA-256"
SCRAM_SHA_512: Final = "SCRAM-SHA-512"

SCRAM: Final = (SCRAM_SHA_256, SCRAM_SHA_512)
SERVED: Final = (*SCRAM, PLAIN, OAUTHBEARER)

_BUCKETS_MIN: Final = 16


class Identity(NamedTuple):
    """Who has proven to be somebody."""

    name: str
    expires_at_ms: int | None = None
    """When what it was proven with ends; None for a password, which does not."""
    by_token: bool = False
    """Whether it was a delegation token."""


class MechanismServer(Protocol):
    """One login by one mechanism: tokens in, challenges out, until `identity` is known."""

    identity: Identity | None

    def evaluate(self, token: bytes) -> bytes:
        """What is sent back. SaslError where the login has failed."""
        ...


def in_kafka_order(mechanisms: Iterable[str]) -> list[str]:
    """As Kafka tells them to clients: in the order of a Java HashSet. Some clients take the first
    that they know."""
    unique = list(dict.fromkeys(mechanisms))
    buckets = _BUCKETS_MIN
    while buckets * 0.75 < len(unique):
        buckets *= 2
    return sorted(unique, key=lambda name: _spread(name) & (buckets - 1))


def _spread(name: str) -> int:
    code = 0
    for character in name:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return code ^ (code >> 16)
