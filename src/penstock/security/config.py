"""What one listener asks of those who log in to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SaslConfig:
    mechanisms: tuple[str, ...]
    """In the order in which clients are told of them."""
    passwords: Mapping[str, str] = field(default_factory=dict)
    """Of PLAIN, by name."""
    receive_bytes_max: int = 524288
    """Of anything that is sent before the login is over."""
    reauth_ms: Mapping[str, int] = field(default_factory=dict)
    """By mechanism: after which time a client has to log in again; 0 for never."""
    failure_delay_ms: int = 100
    """For how long a login that failed goes unanswered."""
