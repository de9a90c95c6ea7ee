"""Carrying out on a log what its follower decided."""

from __future__ import annotations

from penstock.replication.follower import Action, Append, RestartAt, Truncate
from penstock.storage.log import Log
from penstock.storage.trim import advance_log_start, truncate_fully, truncate_to


def carry_out(log: Log, action: Action, now_ms: int) -> bool:
    """Whether the high watermark went back, as only an unclean election lets it: it then has to be
    checkpointed before anything is appended, or a later start would take for committed what came in
    place of what was. ApiError for records that cannot be used, StorageError for a failed disk."""
    before = log.high_watermark
    match action:
        case Truncate(offset):
            if truncate_to(log, offset):
                _sync_cut(log)
        case RestartAt(offset):
            truncate_fully(log, offset)
            _sync_cut(log)
        case Append():
            _append(log, action, now_ms)
    return log.high_watermark < before


def _append(log: Log, action: Append, now_ms: int) -> None:
    if action.restart_at >= 0:
        truncate_fully(log, action.restart_at)
        _sync_cut(log)
    if len(action.records):
        log.append_replica(action.records, now_ms)
    log.advance_high_watermark(action.high_watermark(log.end_offset))
    advance_log_start(log, action.log_start_offset(log.high_watermark))


def _sync_cut(log: Log) -> None:
    """The next fetch says that this is where the log ends, and what is appended next is written
    over what stood there. It must not come back, where the topic asks for records to be safe."""
    if log.config.flush_messages == 1:
        log.flush()
