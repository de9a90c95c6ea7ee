"""One decision about one consumer group, in the making.

Owns the group as it will be: each record is applied to a copy as it is written, so that the next
step decides on it. Nothing of it is visible outside before the records are replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from penstock.group.config import GroupConfig
from penstock.group.consumer.group import ConsumerGroup, ConsumerGroups
from penstock.group.consumer.topic import TopicView
from penstock.group.draft import GroupDraft
from penstock.group.record import GroupEntry
from penstock.group.timer import RejoinTimer, ResyncTimer, RevocationTimer, SessionTimer
from penstock.machine import Decision, Parked

ReplyT = TypeVar("ReplyT")


class Draft(GroupDraft[ConsumerGroup]):
    __slots__ = (
        "_groups",
        "answers",
        "config",
        "matched_again",
        "may_describe",
        "rejoining",
        "topics",
    )

    def __init__(
        self,
        group: ConsumerGroup,
        groups: ConsumerGroups,
        topics: TopicView,
        config: GroupConfig,
        now_ms: int,
    ) -> None:
        super().__init__(group, now_ms)
        self.topics = topics
        self.config = config
        self.answers: list[tuple[int, object]] = []
        self.matched_again = False
        self.may_describe: Callable[[str], bool] | None = None
        """Which topics the member may know of; None for all."""
        self.rejoining: dict[str, bool] = {}
        self._groups = groups

    def ask_to_rejoin(self, member_id: str, timeout_ms: int) -> None:
        """The time runs from the first asking, however often the member heartbeats."""
        if member_id not in self.group.rejoining:
            self.rejoining[member_id] = True
            self.start(RejoinTimer(self.group_id, member_id), timeout_ms)

    def end_rejoin(self, member_id: str) -> None:
        if member_id in self.group.rejoining:
            self.rejoining[member_id] = False
        self.cancel(RejoinTimer(self.group_id, member_id))

    def cancel_all(self, member_id: str) -> None:
        for kind in (SessionTimer, RevocationTimer, ResyncTimer):
            self.cancel(kind(self.group_id, member_id))
        self.end_rejoin(member_id)

    # --- the end ---

    def decision(self, reply: ReplyT | Parked) -> Decision[GroupEntry, ReplyT]:
        has_soft = (
            self.checked_topics or self.matched_again or self.rejoining or self.group.is_empty
        )
        return Decision(
            self.records, reply, self.timers, self.answers, self.adopt if has_soft else None
        )

    def adopt(self) -> None:
        group = self._groups.find(self.group_id)
        if group is None:
            return
        group.must_check_topics &= not self.checked_topics
        group.must_match_again &= not self.matched_again
        if group.is_empty and group.empty_since_ms is None:
            group.empty_since_ms = self.now_ms
        if self.rejoining:
            asked = {one for one, is_asked in self.rejoining.items() if is_asked}
            done = {one for one, is_asked in self.rejoining.items() if not is_asked}
            group.rejoining = (group.rejoining | asked) - done
