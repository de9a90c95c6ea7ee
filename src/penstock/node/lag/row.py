"""What is known of a group and of each partition that it has committed, from one look to the next.

Plain data, and the arithmetic on it: it neither looks at logs nor writes text.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.group.offset.store import CommittedOffset
from penstock.group.view import GroupView
from penstock.model.id import TopicPartition

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def label(value: str) -> str:
    """As it stands between quotes."""
    return value.translate(_ESCAPES)


class PartitionRow:
    """Of one group and one partition."""

    __slots__ = (
        "ahead",
        "commit_ms",
        "committed",
        "end",
        "labels",
        "limit_s",
        "place",
        "unread_at",
        "unread_ms",
    )

    def __init__(self, group_label: str, place: TopicPartition) -> None:
        self.place = place
        self.labels = (
            f'{{group="{group_label}",topic="{label(place.topic)}",partition="{place.partition}"}}'
        )
        self.committed = self.commit_ms = -1
        self.ahead = 0
        """Records behind the committed offset that are done with: of share groups, whose members
        finish them out of order."""
        self.end: int | None = None
        """The high watermark, None while nobody could be asked."""
        self.unread_ms: int | None = None
        """The time of the oldest record that is not consumed yet; None if there is none, or it has
        no time."""
        self.unread_at = -1
        """The committed offset that it was found for."""
        self.limit_s: float | None = None

    def commit(self, one: CommittedOffset) -> None:
        self.committed, self.commit_ms = one.offset, one.commit_timestamp_ms

    def start_at(self, offset: int, ahead: int) -> bool:
        """Of a share group: the first record that is not done with. Whether that is news."""
        before = self.committed, self.ahead
        self.committed, self.ahead = offset, ahead
        return before != (offset, ahead)

    @property
    def consumed(self) -> int:
        """Grows by one with each record that is done with."""
        return self.committed + self.ahead

    @property
    def lag(self) -> int:
        """As Kafka's tools count it, but never negative: a topic may have been made anew."""
        return 0 if self.end is None else max(self.end - self.consumed, 0)

    @property
    def wants_time(self) -> bool:
        return self.lag > 0 and self.unread_at != self.committed

    def learn_time(self, timestamp_ms: int | None, is_exact: bool = True) -> None:
        self.unread_at = self.committed if is_exact else -1
        known = timestamp_ms is not None and timestamp_ms >= 0
        self.unread_ms = timestamp_ms if known else None

    def lag_s(self, now_ms: int) -> float:
        if self.unread_ms is None or not self.lag:
            return 0.0
        return max(now_ms - self.unread_ms, 0) / 1000


class GroupRow:
    __slots__ = (
        "calm",
        "commits",
        "group_id",
        "labels",
        "last_commit_ms",
        "name",
        "rows",
        "still",
        "view",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.name = label(group_id)
        self.labels = f'{{group="{self.name}"}}'
        self.view = GroupView("", "", -1, -1)
        self.rows: dict[TopicPartition, PartitionRow] = {}
        self.commits = 0
        self.last_commit_ms = -1
        self.still: tuple[str, ...] | None = None
        """Its text without lag, as long as nothing of it changes."""
        self.calm: tuple[str, ...] | None = None
        """All of its text, as long as it is not behind and nothing is written."""

    def change(self) -> None:
        self.still = self.calm = None

    def take_offsets(self, offsets: Iterable[tuple[TopicPartition, CommittedOffset]]) -> None:
        rows: dict[TopicPartition, PartitionRow] = {}
        for place, one in offsets:
            row = self.rows.get(place) or PartitionRow(self.name, place)
            row.commit(one)
            rows[place] = row
        self.rows = rows
        self.last_commit_ms = max((row.commit_ms for row in rows.values()), default=-1)
        self.change()
