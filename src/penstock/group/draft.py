"""One decision about one group, in the making: what drafts of every kind of group share.

Owns the group as it will be: each record is applied to a copy as it is written, so that the next
step decides on it.
"""

from __future__ import annotations

from typing import Generic, Protocol, Self, TypeVar

from penstock.group.record import GroupRecord
from penstock.group.timer import SessionTimer
from penstock.machine import TimerCancel, TimerChange, TimerKey, TimerSet


class CopiedGroup(Protocol):
    @property
    def group_id(self) -> str: ...

    def copy(self) -> Self: ...

    def apply(self, record: GroupRecord) -> None: ...


GroupT = TypeVar("GroupT", bound=CopiedGroup)


class GroupDraft(Generic[GroupT]):
    __slots__ = ("_is_copy", "checked_topics", "group", "now_ms", "records", "timers")

    def __init__(self, group: GroupT, now_ms: int) -> None:
        self.group = group
        self.now_ms = now_ms
        self.records: list[GroupRecord] = []
        self.timers: list[TimerChange] = []
        self.checked_topics = False
        self._is_copy = False

    @property
    def group_id(self) -> str:
        return self.group.group_id

    def write(self, *records: GroupRecord) -> None:
        if not self._is_copy:
            self._is_copy = True
            self.group = self.group.copy()
        for record in records:
            self.group.apply(record)
            self.records.append(record)

    def write_first(self, *records: GroupRecord) -> None:
        """Records that are not of this group but must come before its own."""
        self.records[:0] = records

    def start(self, key: TimerKey, delay_ms: int) -> None:
        self.timers.append(TimerSet(key, self.now_ms + delay_ms))

    def cancel(self, key: TimerKey) -> None:
        self.timers.append(TimerCancel(key))

    def start_session(self, member_id: str, timeout_ms: int) -> None:
        self.start(SessionTimer(self.group_id, member_id), timeout_ms)
