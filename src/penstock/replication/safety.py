"""How far a log is as safe as its topic asks: once it is on disk, or as soon as it is written."""

from __future__ import annotations

from penstock.storage.log import Log


def waits_for_disk(log: Log) -> bool:
    """`flush.messages=1`: every acknowledgement waits for the disk."""
    return log.config.flush_messages == 1


def safe_offset_of(log: Log) -> int:
    """What this replica has, as safe as the topic asks."""
    return log.recovery_point if log.config.flush_messages == 1 else log.end_offset


def epoch_start(log: Log) -> int:
    """Where the leader epoch begins that was noted last."""
    return log.epochs.starts[-1] if log.epochs.starts else log.log_start_offset
