"""One decision about one share group, in the making.

Owns the group as it will be: each record is applied to a copy as it is written, so that the next
step decides on it. Nothing of it is visible outside before the records are replayed.
"""

from __future__ import annotations

from typing import TypeVar

from penstock.group.consumer.topic import TopicView
from penstock.group.record import GroupEntry, GroupRecord
from penstock.group.share.group import ShareGroup, ShareGroups
from penstock.group.timer import SessionTimer
from penstock.machine import Decision, TimerCancel, TimerChange, TimerSet

ReplyT = TypeVar("ReplyT")


class ShareDraft:
    __slots__ = (
        "_groups",
        "_is_copy",
        "answers",
        "checked_topics",
        "group",
        "now_ms",
        "records",
        "timers",
        "topics",
    )

    def __init__(
        self, group: ShareGroup, groups: ShareGroups, topics: TopicView, now_ms: int
    ) -> None:
        self.group = group
        self.topics = topics
        self.now_ms = now_ms
        self.records: list[GroupRecord] = []
        self.timers: list[TimerChange] = []
        self.answers: list[tuple[int, object]] = []
        self.checked_topics = False
        self._groups = groups
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

    def start_session(self, member_id: str, timeout_ms: int) -> None:
        key = SessionTimer(self.group_id, member_id)
        self.timers.append(TimerSet(key, self.now_ms + timeout_ms))

    def end_session(self, member_id: str) -> None:
        self.timers.append(TimerCancel(SessionTimer(self.group_id, member_id)))

    def decision(self, reply: ReplyT) -> Decision[GroupEntry, ReplyT]:
        adopt = self.adopt if self.checked_topics else None
        return Decision(self.records, reply, self.timers, (), adopt)

    def adopt(self) -> None:
        group = self._groups.find(self.group_id)
        if group is not None:
            group.must_check_topics &= not self.checked_topics
