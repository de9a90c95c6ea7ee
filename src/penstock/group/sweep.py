"""The sweep that expires idle offsets and groups, in stretches short enough not to be noticed.

Owns how far the present round has come. What is expired is decided elsewhere.
"""

from __future__ import annotations

from penstock.group.classic.group import ClassicGroup
from penstock.group.config import GroupConfig
from penstock.group.kind import Groups, tombstones_of
from penstock.group.offset.expiry import expired
from penstock.group.offset.store import OffsetStore
from penstock.group.record import GroupEntry, GroupRecord
from penstock.group.timer import RetentionTimer
from penstock.machine import Decision, TimerSet

_OFFSETS_PER_STRETCH = 2_000


class Sweep:
    __slots__ = ("_config", "_groups", "_left", "_offsets")

    def __init__(self, config: GroupConfig, groups: Groups, offsets: OffsetStore) -> None:
        self._config = config
        self._groups = groups
        self._offsets = offsets
        self._left: list[str] = []

    def start(self, now_ms: int) -> TimerSet:
        interval_ms = self._config.offsets_retention_check_interval_ms
        return TimerSet(RetentionTimer(), now_ms + interval_ms)

    def decide_stretch(self, now_ms: int) -> Decision[GroupEntry, None]:
        left = self._left or self._groups.ids()[::-1]
        records: list[GroupRecord] = []
        budget = _OFFSETS_PER_STRETCH
        done = 0
        while done < len(left) and budget > 0:
            done += 1
            group_id = left[-done]
            budget -= 1 + len(self._offsets.of_group(group_id))
            records += self._expired(group_id, now_ms)
        remaining = left[: len(left) - done]
        timer = TimerSet(RetentionTimer(), now_ms + 1) if remaining else self.start(now_ms)
        return Decision(records, None, (timer,), adopt=lambda: self._keep(remaining))

    def _keep(self, remaining: list[str]) -> None:
        self._left = remaining

    def _expired(self, group_id: str, now_ms: int) -> list[GroupRecord]:
        group = self._groups.find(group_id)
        if group is None:
            return []
        retention_ms = self._config.offsets_retention_ms
        records, all_gone = expired(self._offsets, group, retention_ms, now_ms)
        is_awaited = isinstance(group, ClassicGroup) and bool(group.pending_join)
        if all_gone and group.is_empty and not is_awaited:
            records += tombstones_of(group)
        return records
