"""Carrying out on a log what its follower decided."""

from __future__ import annotations

from penstock.model.error import ApiError
from penstock.replication.follower import Action, Append, CutAt, RestartAt, Truncate
from penstock.storage.log import Log
from penstock.storage.trim import advance_log_start, cut_at, truncate_fully, truncate_to


def carry_out(log: Log, action: Action, now_ms: int) -> bool:
    """Whether the log was cut. Then the caller writes the checkpoints of its directory before it
    appends anything: a recovery point behind the cut would make a torn batch look like rot, and a
    watermark behind it, which an unclean election leaves, like committed what comes in its place.

    ApiError for records that cannot be used, StorageError for a disk that failed."""
    match action:
        case Truncate(offset):
            cut = truncate_to(log, offset)
        case RestartAt(offset):
            truncate_fully(log, offset)
            cut = True
        case CutAt(base_offset, position, offset):
            cut_at(log, log.segment_at(base_offset), position, offset)
            cut = True
        case Append():
            cut = action.restart_at >= 0
            if cut:
                truncate_fully(log, action.restart_at)
    if cut:
        _sync(log)
    if isinstance(action, Append):
        _append(log, action, now_ms)
    return cut


def _append(log: Log, action: Append, now_ms: int) -> None:
    if len(action.records):
        try:
            log.append_replica(action.records, now_ms)
        except ApiError:
            # The disk may have become full behind a part of it, and nothing more is fetched before
            # that is safe.
            _sync(log)
            raise
    log.advance_high_watermark(action.high_watermark(log.end_offset))
    advance_log_start(log, action.log_start_offset(log.high_watermark))


def _sync(log: Log) -> None:
    """The next fetch says that this is where the log ends, and what is appended behind a cut is
    written over what stood there. It must not come back, where the topic asks for records to be
    safe."""
    if log.config.flush_messages == 1:
        log.flush()
