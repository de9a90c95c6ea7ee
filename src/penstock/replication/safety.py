"""How far a log is as safe as its topic asks: once the disk has it, or as soon as it is written."""

from __future__ import annotations

from penstock.storage.log import Log


def waits_for_disk(log: Log) -> bool:
    """`flush.messages=1`: every acknowledgement waits for the disk."""
    return log.config.flush_messages == 1


def safe_offset_of(log: Log) -> int:
    """What this replica has, as safe as the topic asks."""
    return log.recovery_point if waits_for_disk(log) else log.end_offset
