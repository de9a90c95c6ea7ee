"""Carrying out on a log what its follower decided."""

from __future__ import annotations

from penstock.replication.follower import Action, Append, RestartAt, Truncate
from penstock.storage.log import Log
from penstock.storage.trim import advance_log_start, truncate_fully, truncate_to


def carry_out(log: Log, action: Action, now_ms: int) -> None:
    """ApiError for records that cannot be used (back off), StorageError for a disk that failed."""
    match action:
        case Truncate(offset):
            truncate_to(log, offset)
        case RestartAt(offset):
            truncate_fully(log, offset)
        case Append():
            _append(log, action, now_ms)


def _append(log: Log, action: Append, now_ms: int) -> None:
    if action.restart_at >= 0:
        truncate_fully(log, action.restart_at)
    if len(action.records):
        log.append_replica(action.records, now_ms)
    log.advance_high_watermark(action.high_watermark(log.end_offset))
    advance_log_start(log, action.log_start_offset(log.high_watermark))
