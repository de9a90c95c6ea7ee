"""A consumer group: all of it is in the log, and `apply` is the only way in.

A decision works on a copy, applies each record it makes and so sees what it has decided so far;
the original follows when the records are replayed. Soft are only reminders of what to look at
again. Knows no requests and no timers.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from penstock.group.by_id import GroupsById
from penstock.group.consumer.member import ConsumerMember, Owned, Partitions
from penstock.group.consumer.record import target_of, with_current, with_identity
from penstock.group.record import GroupRecord
from penstock.model.error import InvariantError
from penstock.model.id import TopicId
from penstock.protocol.messages.records.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from penstock.protocol.messages.records.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.consumer_group_metadata import ConsumerGroupMetadataValue
from penstock.protocol.messages.records.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataKey,
)
from penstock.protocol.messages.records.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from penstock.protocol.messages.records.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
)
from penstock.protocol.messages.records.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)


class ConsumerGroupState(Enum):
    """Values are the names clients see."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    """The group has changed and the new target assignment is not made yet."""
    RECONCILING = "Reconciling"
    """Some members are on their way to their target."""
    STABLE = "Stable"


class MatchedTopics(NamedTuple):
    """What a regular expression came to when it was last looked at."""

    topics: frozenset[str]
    timestamp_ms: int


class ConsumerGroup:
    __slots__ = (
        "_regexes",
        "_subscribed",
        "assignment_epoch",
        "assignment_timestamp_ms",
        "empty_since_ms",
        "epoch",
        "group_id",
        "has_partition_metadata",
        "matched",
        "members",
        "metadata_hash",
        "must_check_topics",
        "must_match_again",
        "owners",
        "rejoining",
        "static_ids",
        "targets",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = 0
        self.metadata_hash = 0
        self.assignment_epoch = 0
        self.assignment_timestamp_ms = 0
        self.members: dict[str, ConsumerMember] = {}
        self.static_ids: dict[str, str] = {}
        self.targets: dict[str, Partitions] = {}
        self.owners: dict[tuple[TopicId, int], str] = {}
        self.matched: dict[str, MatchedTopics] = {}
        self.has_partition_metadata = False
        self._subscribed: frozenset[str] | None = None
        self._regexes: frozenset[str] | None = None
        # Soft: after a load nothing is known of what happened to the topics meanwhile.
        self.must_check_topics = True
        self.must_match_again = True
        self.empty_since_ms: int | None = None
        """As far as this coordinator knows: the log does not say when the last member went."""
        self.rejoining: frozenset[str] = frozenset()
        """Members of the classic protocol that were told to join again."""

    def copy(self) -> ConsumerGroup:
        """Members are values, so copying the dicts that hold them is enough."""
        made = ConsumerGroup(self.group_id)
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(made, name, value.copy() if isinstance(value, dict) else value)
        return made

    # --- questions ---

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def uses_consumer_protocol(self) -> bool:
        return True

    @property
    def state(self) -> ConsumerGroupState:
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(one.is_settled(self.assignment_epoch) for one in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    @property
    def subscribed(self) -> frozenset[str]:
        """Topics that some member asks for, whether they exist or not."""
        if self._subscribed is None:
            topics = (self.topics_of(member) for member in self.members.values())
            self._subscribed = frozenset().union(*topics)
        return self._subscribed

    @property
    def regexes(self) -> frozenset[str]:
        if self._regexes is None:
            found = (member.regex for member in self.members.values() if member.regex)
            self._regexes = frozenset(found)
        return self._regexes

    @property
    def classic_members(self) -> list[ConsumerMember]:
        return [member for member in self.members.values() if member.classic is not None]

    @property
    def preferred_assignor(self) -> str | None:
        votes: dict[str, int] = {}
        for member in self.members.values():
            if member.assignor is not None:
                votes[member.assignor] = votes.get(member.assignor, 0) + 1
        return max(votes, key=votes.__getitem__) if votes else None

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.subscribed

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        matched = self.matched.get(member.regex)
        return member.topics if matched is None else member.topics | matched.topics

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        return self.members.get(self.static_ids.get(instance_id, ""))

    def is_free(self, topic_id: TopicId, partition: int, member_id: str) -> bool:
        """Whether the member may have the partition now: nobody else does."""
        return self.owners.get((topic_id, partition), member_id) == member_id

    def waits_for_others(self, member: ConsumerMember) -> bool:
        return any(
            not self.is_free(topic_id, one, member.member_id)
            for topic_id, found in self.targets.get(member.member_id, {}).items()
            for one in found
        )

    # --- changes ---

    def apply(self, record: GroupRecord) -> None:
        """Records of a member may come in any order at a load: each builds on what is there."""
        key, value = record.key, record.value
        if isinstance(value, ConsumerGroupCurrentMemberAssignmentValue):
            self._put(with_current(self._member(_member_id(record)), value))
        elif isinstance(value, ConsumerGroupMemberMetadataValue):
            self._put(with_identity(self._member(_member_id(record)), value))
        elif isinstance(value, ConsumerGroupTargetAssignmentMemberValue):
            self.targets[_member_id(record)] = target_of(value)
        elif isinstance(value, ConsumerGroupMetadataValue):
            self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
        elif isinstance(value, ConsumerGroupTargetAssignmentMetadataValue):
            self.assignment_epoch = value.assignment_epoch
            self.assignment_timestamp_ms = value.assignment_timestamp
        elif isinstance(value, ConsumerGroupRegularExpressionValue):
            assert isinstance(key, ConsumerGroupRegularExpressionKey)
            matched = MatchedTopics(frozenset(value.topics), value.timestamp)
            self.matched[key.regular_expression] = matched
            self._subscribed = None
        elif isinstance(key, ConsumerGroupPartitionMetadataKey):
            self.has_partition_metadata = value is not None
        elif value is None:
            self._apply_tombstone(record)
        else:
            raise InvariantError(f"{value.NAME} in a consumer group")

    def _apply_tombstone(self, record: GroupRecord) -> None:
        key = record.key
        if isinstance(key, ConsumerGroupCurrentMemberAssignmentKey):
            if key.member_id in self.members:
                nothing = ConsumerGroupCurrentMemberAssignmentValue(member_epoch=-1)
                self._put(with_current(self.members[key.member_id], nothing))
        elif isinstance(key, ConsumerGroupTargetAssignmentMemberKey):
            self.targets.pop(key.member_id, None)
        elif isinstance(key, ConsumerGroupMemberMetadataKey):
            self._remove(key.member_id)
        elif isinstance(key, ConsumerGroupTargetAssignmentMetadataKey):
            self.assignment_epoch = self.assignment_timestamp_ms = 0
        elif isinstance(key, ConsumerGroupRegularExpressionKey):
            self.matched.pop(key.regular_expression, None)
            self._subscribed = None

    def _member(self, member_id: str) -> ConsumerMember:
        return self.members.get(member_id) or ConsumerMember(member_id)

    def _put(self, member: ConsumerMember) -> None:
        before = self.members.get(member.member_id)
        if before is None or (before.topics, before.regex) != (member.topics, member.regex):
            self._subscribed = self._regexes = None
        if before is not None:
            self._release(before)
        self.members[member.member_id] = member
        self.empty_since_ms = None
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        for partition in _each(member.owned, member.revoking):
            self.owners[partition] = member.member_id

    def _remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is None:
            return
        self._subscribed = self._regexes = None
        self._release(member)
        if self.static_ids.get(member.instance_id or "") == member_id:
            del self.static_ids[member.instance_id or ""]

    def _release(self, member: ConsumerMember) -> None:
        for partition in _each(member.owned, member.revoking):
            if self.owners.get(partition) == member.member_id:
                del self.owners[partition]


def _each(*owned: Owned) -> Iterator[tuple[TopicId, int]]:
    for some in owned:
        for topic_id, found in some.items():
            for partition in found:
                yield topic_id, partition


def _member_id(record: GroupRecord) -> str:
    key = record.key
    assert isinstance(
        key,
        ConsumerGroupCurrentMemberAssignmentKey
        | ConsumerGroupMemberMetadataKey
        | ConsumerGroupTargetAssignmentMemberKey,
    )
    return key.member_id


class ConsumerGroups(GroupsById[ConsumerGroup]):
    """All consumer groups of a shard."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(ConsumerGroup, "ConsumerGroupMetadataKey")
