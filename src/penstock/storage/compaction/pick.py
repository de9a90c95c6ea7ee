"""How dirty a log is, and how much of it may be compacted now.

Changes nothing, except that a log whose oldest uncompacted record has waited for
max.compaction.lag.ms in the active segment gets a new one.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from penstock.storage.compaction.config import compaction_config
from penstock.storage.log import Log
from penstock.storage.lookup import last_stable_offset
from penstock.storage.segment import Segment

LAG_UNLIMITED_MS = 0x7FFFFFFFFFFFFFFF


@dataclass(frozen=True)
class Candidate:
    log: Log
    first_dirty: int
    bound: int
    """Base offset of the first segment that may not be compacted."""
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    @property
    def is_due(self) -> bool:
        if self.is_overdue and self.cleanable_bytes > 0:
            return True
        return self.dirty_ratio > compaction_config(self.log).min_cleanable_dirty_ratio


def weigh(log: Log, first_dirty: int, now_ms: int) -> Candidate:
    bound = _bound(log, first_dirty, now_ms)
    cleanable = sum(s.size for s in _segments_from(log, first_dirty) if s.base_offset < bound)
    clean = sum(segment.size for segment in log.segments if segment.base_offset < first_dirty)
    is_overdue = cleanable > 0 and _is_overdue(log, first_dirty, now_ms)
    return Candidate(log, first_dirty, bound, clean, cleanable, is_overdue)


def roll_if_overdue(log: Log, now_ms: int) -> bool:
    """A quiet log would otherwise keep its last records from compaction for good."""
    lag_ms = compaction_config(log).max_compaction_lag_ms
    if lag_ms >= LAG_UNLIMITED_MS or not log.active.size:
        return False
    first = log.active.load_first_timestamp()
    since_ms = first if first >= 0 else log.active.created_ms
    if now_ms - since_ms <= lag_ms:
        return False
    log.roll(now_ms=now_ms)
    return True


def _bound(log: Log, first_dirty: int, now_ms: int) -> int:
    """Whole segments only: before the active one, before what may still be aborted, and before
    what is younger than min.compaction.lag.ms."""
    limit = min(last_stable_offset(log), log.active.base_offset)
    lag_ms = compaction_config(log).min_compaction_lag_ms
    if lag_ms > 0:
        for segment in _segments_from(log, first_dirty):
            if segment.largest_timestamp_ms() > now_ms - lag_ms:
                limit = min(limit, segment.base_offset)
                break
    return log.segment_at(max(limit, first_dirty)).base_offset


def _is_overdue(log: Log, first_dirty: int, now_ms: int) -> bool:
    lag_ms = compaction_config(log).max_compaction_lag_ms
    if lag_ms >= LAG_UNLIMITED_MS:
        return False
    firsts = (segment.load_first_timestamp() for segment in _segments_from(log, first_dirty))
    return any(0 < first < now_ms - lag_ms for first in firsts)


def _segments_from(log: Log, offset: int) -> list[Segment]:
    """The one that holds the offset and all behind it, without the active one."""
    return log.segments[max(bisect_right(log.bases, offset) - 1, 0) : -1]
