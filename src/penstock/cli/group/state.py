"""Groups, their members and how far they are behind: plain values, and arithmetic on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

Place = tuple[str, int]
"""Topic and partition."""


class Member(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    subscribed: tuple[str, ...]
    """Topics, or the expression that stands for them; empty where it is not known."""
    assigned: tuple[Place, ...]
    is_classic: bool
    """Of the classic protocol, whichever the group is of."""


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    protocol: str
    """`classic`, `consumer` (KIP-848), `streams` (KIP-1071) or `share` (KIP-932)."""
    state: str
    coordinator: int
    assignor: str = ""
    members: tuple[Member, ...] = ()
    is_described: bool = True
    """Members are known."""

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def is_share(self) -> bool:
        """Its members take records one by one: any number of them work on a partition."""
        return self.protocol == "share"

    def owners_of(self, place: Place) -> tuple[Member, ...]:
        """One at most, but for share groups."""
        return tuple(each for each in self.members if place in each.assigned)


class PartitionLag(NamedTuple):
    """Of one group and one partition."""

    place: Place
    committed: int | None
    """None where the group has no offset: `auto.offset.reset` will decide. Of a share group the
    first record that is not done with."""
    start: int | None
    end: int | None
    """The high watermark, None where nobody could be asked."""
    unread_ms: int | None = None
    """The time of the oldest record not consumed yet."""
    owners: tuple[Member, ...] = ()
    has_only_markers: bool = False
    """What is left to read are markers of transactions: no record waits."""
    waiting: int | None = None
    """Records not done with, where brokers count them: of share groups, which finish records out
    of order."""

    @property
    def lag(self) -> int | None:
        """As `kafka-consumer-groups` and `kafka-share-groups` count it."""
        if self.committed is None or self.end is None:
            return None
        return self.end - self.committed if self.waiting is None else self.waiting

    @property
    def is_unanswered(self) -> bool:
        """It has an offset, and the leader did not say where the log ends."""
        return self.committed is not None and self.lag is None

    @property
    def is_known(self) -> bool:
        """Where a log has no records there is nothing to read, wherever it would begin."""
        return self.lag is not None or (self.start is not None and self.start == self.end)

    @property
    def done(self) -> int | None:
        """Moves on by one with each record that is done with."""
        if self.waiting is None or self.end is None:
            return self.committed
        return self.end - self.waiting

    def lag_s(self, now_ms: int) -> float | None:
        """None where it is not known: no offset, or records without times."""
        if self.lag is None:
            return None
        if self.lag <= 0 or self.has_only_markers:
            return 0.0
        return None if self.unread_ms is None else max(now_ms - self.unread_ms, 0) / 1000


@dataclass(frozen=True, slots=True)
class GroupLag:
    group: Group
    partitions: tuple[PartitionLag, ...]
    now_ms: int
    """When it was looked at."""

    @property
    def records(self) -> int:
        return sum(max(each.lag or 0, 0) for each in self.partitions)

    @property
    def unanswered(self) -> int:
        """Partitions whose leaders did not say where they end: `records` leaves them out."""
        return sum(each.is_unanswered for each in self.partitions)

    @property
    def known_records(self) -> int | None:
        """None where no leader has answered, which is not the same as 0."""
        return None if 0 < self.unanswered == len(self.partitions) else self.records

    @property
    def seconds(self) -> float | None:
        """Of the partition furthest behind."""
        known = [s for each in self.partitions if (s := each.lag_s(self.now_ms)) is not None]
        return max(known, default=None)

    @property
    def worst(self) -> PartitionLag | None:
        """By age, then by records."""
        return max(
            self.partitions,
            key=lambda each: (each.lag_s(self.now_ms) or 0.0, each.lag or 0),
            default=None,
        )

    def of_topic(self, topic: str) -> GroupLag:
        some = tuple(each for each in self.partitions if each.place[0] == topic)
        return GroupLag(self.group, some, self.now_ms)

    @property
    def topics(self) -> list[str]:
        return sorted({each.place[0] for each in self.partitions})
