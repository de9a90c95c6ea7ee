"""One decision about one share group, in the making.

Owns the group as it will be: each record is applied to a copy as it is written, so that the next
step decides on it. Nothing of it is visible outside before the records are replayed.
"""

from __future__ import annotations

from typing import TypeVar

from penstock.group.consumer.topic import TopicView
from penstock.group.draft import GroupDraft
from penstock.group.record import GroupEntry
from penstock.group.share.group import ShareGroup, ShareGroups
from penstock.group.timer import SessionTimer
from penstock.machine import Decision

ReplyT = TypeVar("ReplyT")


class ShareDraft(GroupDraft[ShareGroup]):
    __slots__ = ("_groups", "topics")

    def __init__(
        self, group: ShareGroup, groups: ShareGroups, topics: TopicView, now_ms: int
    ) -> None:
        super().__init__(group, now_ms)
        self.topics = topics
        self._groups = groups

    def end_session(self, member_id: str) -> None:
        self.cancel(SessionTimer(self.group_id, member_id))

    def decision(self, reply: ReplyT) -> Decision[GroupEntry, ReplyT]:
        adopt = self.adopt if self.checked_topics else None
        return Decision(self.records, reply, self.timers, (), adopt)

    def adopt(self) -> None:
        group = self._groups.find(self.group_id)
        if group is not None:
            group.must_check_topics &= not self.checked_topics
