"""One decision about one streams group, in the making.

Owns the group as it will be: each record is applied to a copy as it is written, so that the next
step decides on it. What is soft is kept beside, and adopted when the records are replayed.
"""

from __future__ import annotations

from typing import TypeVar

from penstock.group.config import GroupConfig
from penstock.group.consumer.topic import TopicView
from penstock.group.draft import GroupDraft
from penstock.group.record import GroupEntry
from penstock.group.streams.configure import ConfiguredTopology
from penstock.group.streams.group import StreamsGroup, StreamsGroups
from penstock.group.streams.status import StatusCode, status
from penstock.group.timer import InitialRebalanceTimer, RevocationTimer, SessionTimer
from penstock.machine import Decision
from penstock.protocol.messages.streams_group_heartbeat import Status

ReplyT = TypeVar("ReplyT")


class StreamsDraft(GroupDraft[StreamsGroup]):
    __slots__ = (
        "_groups",
        "config",
        "configured",
        "delayed_until_ms",
        "endpoint_epoch",
        "shutdown_member_id",
        "statuses",
        "topics",
    )

    def __init__(
        self,
        group: StreamsGroup,
        groups: StreamsGroups,
        topics: TopicView,
        config: GroupConfig,
        now_ms: int,
    ) -> None:
        super().__init__(group, now_ms)
        self.topics = topics
        self.config = config
        self.statuses: list[Status] = []
        self.configured: ConfiguredTopology | None = group.configured
        self.delayed_until_ms = group.delayed_until_ms
        self.endpoint_epoch = group.endpoint_epoch
        self.shutdown_member_id = group.shutdown_member_id
        self._groups = groups

    def tell(self, code: StatusCode, detail: str) -> None:
        self.statuses.append(status(code, detail))

    def start_delay(self, delay_ms: int) -> None:
        self.delayed_until_ms = self.now_ms + delay_ms
        self.start(InitialRebalanceTimer(self.group_id), delay_ms)

    def cancel_all(self, member_id: str) -> None:
        self.cancel(SessionTimer(self.group_id, member_id))
        self.cancel(RevocationTimer(self.group_id, member_id))

    # --- the end ---

    def decision(self, reply: ReplyT) -> Decision[GroupEntry, ReplyT]:
        return Decision(self.records, reply, self.timers, (), self.adopt)

    def adopt(self) -> None:
        group = self._groups.find(self.group_id)
        if group is None:
            return
        group.must_check_topics &= not self.checked_topics
        group.configured = self.configured
        group.delayed_until_ms = self.delayed_until_ms
        group.endpoint_epoch = self.endpoint_epoch
        group.shutdown_member_id = None if group.is_empty else self.shutdown_member_id
        if group.is_empty and group.empty_since_ms is None:
            group.empty_since_ms = self.now_ms
