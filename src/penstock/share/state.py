"""The states of a record in a share partition."""

from __future__ import annotations

from enum import IntEnum


class RecordState(IntEnum):
    """Values are those in the log."""

    AVAILABLE = 0
    ACQUIRED = 1
    """A member has it, for a time. Never written: after a load it is available again."""
    ACKNOWLEDGED = 2
    ARCHIVED = 4
    """Rejected, delivered as often as is allowed, or not there at all."""

    @property
    def is_final(self) -> bool:
        return self >= RecordState.ACKNOWLEDGED
