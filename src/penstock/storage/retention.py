"""Which segments of a log are too old or too many.

Whole segments go, oldest first and without gaps, never one that readers up to the high watermark
still lack. When even the active segment has expired, a new one takes its place first. Runs in
steps from a timer, off the path of requests.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.storage.log import Log
from penstock.storage.segment import Segment
from penstock.storage.trim import delete_first_segments


def apply_retention(log: Log, now_ms: int) -> int:
    """Delete what the log's settings no longer keep; how many segments went."""
    try:
        return _apply(log, now_ms)
    except OSError as error:
        log.fail_read(error)


def _apply(log: Log, now_ms: int) -> int:
    deleted = _delete_while(log, lambda _, end: end <= log.log_start_offset, keep_active=True)
    if "delete" in log.config.cleanup_policy:
        deleted += _delete_for_size(log)
        deleted += _delete_for_age(log, now_ms)
    return deleted


def _delete_for_size(log: Log) -> int:
    limit = log.config.retention_bytes
    excess = log.size_bytes - limit
    if limit < 0 or excess < 0:
        return 0

    def is_excess(segment: Segment, _: int) -> bool:
        nonlocal excess
        if excess < segment.size:
            return False
        excess -= segment.size
        return True

    return _delete_while(log, is_excess, keep_active=False)


def _delete_for_age(log: Log, now_ms: int) -> int:
    limit = log.config.retention_ms
    if limit < 0:
        return 0
    return _delete_while(
        log,
        lambda segment, _: now_ms - segment.largest_timestamp_ms() > limit,
        keep_active=False,
    )


def _delete_while(
    log: Log, is_deletable: Callable[[Segment, int], bool], *, keep_active: bool
) -> int:
    """Count the run of deletable segments at the start, given each with its end offset."""
    count = 0
    for slot, segment in enumerate(log.segments):
        is_active = segment is log.active
        end = log.end_offset if is_active else log.bases[slot + 1]
        if is_active and (keep_active or segment.size == 0):
            break
        if log.high_watermark < end or not is_deletable(segment, end):
            break
        count += 1
    return len(delete_first_segments(log, count)) if count else 0
