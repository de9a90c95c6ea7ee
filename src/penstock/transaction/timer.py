"""Keys of the timers a shard asks for. They carry names only: what is due is looked up anew."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimeoutTimer:
    """An open transaction that must be ended before this."""

    transactional_id: str


@dataclass(frozen=True, slots=True)
class ExpirationTimer:
    """The next stretch of the sweep for transactional ids nobody uses."""
