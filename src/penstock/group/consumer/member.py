"""One member of a consumer group, as an immutable value: a change makes a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.group.classic.member import Protocols
from penstock.group.consumer.state import MemberState
from penstock.model.id import TopicId

Partitions = Mapping[TopicId, frozenset[int]]
"""What a member shall have; no topic stands here without partitions."""

Owned = Mapping[TopicId, Mapping[int, int]]
"""What a member has: each partition with the epoch it was assigned in."""

JOINING_EPOCH = 0
LEAVING_EPOCH = -1
STATIC_LEAVING_EPOCH = -2


@dataclass(frozen=True, slots=True)
class ClassicSide:
    """What is kept of a member that speaks the classic protocol."""

    session_timeout_ms: int
    protocols: Protocols


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    regex: str = ""
    assignor: str | None = None
    rebalance_timeout_ms: int = -1
    classic: ClassicSide | None = None
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    owned: Owned = field(default_factory=dict)
    revoking: Owned = field(default_factory=dict)

    def is_settled(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    def is_same_person(self, other: ConsumerMember) -> bool:
        """Whether all that the member said of itself is the same."""
        return self is other or _identity(self) == _identity(other)

    def has_same_partitions(self, other: ConsumerMember) -> bool:
        if self.owned is other.owned:
            return True
        return partitions_of(self.owned) == partitions_of(other.owned)


def _identity(member: ConsumerMember) -> tuple[object, ...]:
    return (
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.topics,
        member.regex,
        member.assignor,
        member.rebalance_timeout_ms,
        member.classic,
    )


def partitions_of(owned: Owned) -> dict[TopicId, frozenset[int]]:
    return {topic_id: frozenset(found) for topic_id, found in owned.items()}
