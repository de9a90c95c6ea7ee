"""A share group from one look to the next, and how far its coordinators say that it is.

Its members finish records one by one: what counts is the first record of a partition that is not
done with, and how many behind it are. That changes only while the group has members, and shortly
after: a group without any is not asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from penstock.group.share.group import ShareGroup
from penstock.group.share.record import StateTopics
from penstock.group.view import view_of
from penstock.model.id import TopicPartition
from penstock.node.lag.ends import LocalEnds
from penstock.node.lag.row import GroupRow, PartitionRow
from penstock.share import ShareKey
from penstock.share.kept import UNKNOWN_OFFSET, KeptState

if TYPE_CHECKING:
    from penstock.coordinator.share_summary import ShareSummaries

SETTLING_MS: Final = 120_000
"""After a change: locks of members that are gone run out within this time, by default."""


class ShareRow(GroupRow):
    __slots__ = ("_is_known", "_settled_ms", "_topics")

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self._topics = StateTopics()
        self._settled_ms = 0
        self._is_known = False
        """Whether everything that was last asked for was answered."""

    def observe(self, group: ShareGroup, now_ms: int) -> None:
        view = view_of(group)
        if view != self.view or group.state_topics is not self._topics:
            self.view, self._topics = view, group.state_topics
            self._settled_ms = now_ms + SETTLING_MS
            self._is_known = False
            self.change()

    def may_move(self, local: LocalEnds, now_ms: int) -> bool:
        if not self._is_known:
            return True
        is_active = self.view.members or now_ms < self._settled_ms
        return bool(is_active) and not self._is_done(local)

    def _is_done(self, local: LocalEnds) -> bool:
        """With all records there are, as far as the logs are here."""
        if len(self.rows) < sum(len(each.partitions) for each in self._topics.initialized.values()):
            return False
        for place, row in self.rows.items():
            replica = local.find(place)
            if row.lag or replica is None or replica.high_watermark != row.end:
                return False
        return True

    def share_keys(self) -> Iterator[ShareKey]:
        for topic_id, topic in self._topics.initialized.items():
            for index in topic.partitions:
                yield ShareKey(self.group_id, topic_id, index)

    def take(self, states: Mapping[ShareKey, KeptState]) -> None:
        """Of what is not known now, what was known before stays."""
        rows: dict[TopicPartition, PartitionRow] = {}
        self._is_known = all(key in states for key in self.share_keys())
        for key in self.share_keys():
            place = TopicPartition(self._topics.initialized[key.topic_id].name, key.partition)
            state, row = states.get(key), self.rows.get(place)
            if state is not None:
                row = self._moved(place, row, state)
            if row is not None:
                rows[place] = row
        self.rows = rows

    def _moved(
        self, place: TopicPartition, row: PartitionRow | None, state: KeptState
    ) -> PartitionRow | None:
        if state.start_offset == UNKNOWN_OFFSET:
            return None
        row = row or PartitionRow(self.name, place)
        if row.start_at(state.start_offset, max(state.done_count, 0)):
            self.change()
        return row


async def renew(
    rows: Sequence[ShareRow], summaries: ShareSummaries, local: LocalEnds, now_ms: int
) -> None:
    asked = [row for row in rows if row.may_move(local, now_ms)]
    states = await summaries.read(key for row in asked for key in row.share_keys())
    for row in asked:
        row.take(states)
