"""A share group: all of it is in the log, and `apply` is the only way in.

Knows no requests and no timers. Soft is only the reminder to look at its topics again.
"""

from __future__ import annotations

from enum import Enum

from penstock.group.by_id import GroupsById
from penstock.group.record import GroupRecord
from penstock.group.share.member import Partitions, ShareMember
from penstock.group.share.record import (
    StateTopics,
    state_of,
    target_of,
    with_current,
    with_identity,
)
from penstock.protocol.messages.records.share_group_current_member_assignment import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
)
from penstock.protocol.messages.records.share_group_member_metadata import (
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.share_group_metadata import ShareGroupMetadataValue
from penstock.protocol.messages.records.share_group_state_partition_metadata import (
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
)
from penstock.protocol.messages.records.share_group_target_assignment_member import (
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
)
from penstock.protocol.messages.records.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)


class ShareGroupState(Enum):
    """Values are the names clients see."""

    EMPTY = "Empty"
    STABLE = "Stable"


class ShareGroup:
    __slots__ = (
        "_subscribed",
        "assignment_epoch",
        "assignment_timestamp_ms",
        "epoch",
        "group_id",
        "members",
        "metadata_hash",
        "must_check_topics",
        "state_topics",
        "targets",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = 0
        self.metadata_hash = 0
        self.assignment_epoch = 0
        self.assignment_timestamp_ms = 0
        self.members: dict[str, ShareMember] = {}
        self.targets: dict[str, Partitions] = {}
        self.state_topics = StateTopics()
        self._subscribed: frozenset[str] | None = None
        self.must_check_topics = True

    def copy(self) -> ShareGroup:
        """Members are values, so copying the dicts that hold them is enough."""
        made = ShareGroup(self.group_id)
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(made, name, value.copy() if isinstance(value, dict) else value)
        return made

    # --- questions ---

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def state(self) -> ShareGroupState:
        return ShareGroupState.STABLE if self.members else ShareGroupState.EMPTY

    @property
    def subscribed(self) -> frozenset[str]:
        """Topics that some member asks for, whether they exist or not."""
        if self._subscribed is None:
            topics = (member.topics for member in self.members.values())
            self._subscribed = frozenset().union(*topics)
        return self._subscribed

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.subscribed

    # --- changes ---

    def apply(self, record: GroupRecord) -> None:
        """Records of a member may come in any order at a load: each builds on what is there."""
        value = record.value
        if value is None:
            self._apply_tombstone(record)
        elif isinstance(value, ShareGroupCurrentMemberAssignmentValue):
            self._put(with_current(self._member(record), value))
        elif isinstance(value, ShareGroupMemberMetadataValue):
            self._put(with_identity(self._member(record), value))
        elif isinstance(value, ShareGroupTargetAssignmentMemberValue):
            self.targets[_member_id(record)] = target_of(value)
        elif isinstance(value, ShareGroupMetadataValue):
            self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
        elif isinstance(value, ShareGroupTargetAssignmentMetadataValue):
            self.assignment_epoch = value.assignment_epoch
            self.assignment_timestamp_ms = value.assignment_timestamp
        elif isinstance(value, ShareGroupStatePartitionMetadataValue):
            self.state_topics = state_of(value)

    def _apply_tombstone(self, record: GroupRecord) -> None:
        key = record.key
        if isinstance(key, ShareGroupMemberMetadataKey):
            self.members.pop(key.member_id, None)
            self._subscribed = None
        elif isinstance(key, ShareGroupTargetAssignmentMemberKey):
            self.targets.pop(key.member_id, None)
        elif isinstance(key, ShareGroupCurrentMemberAssignmentKey):
            if key.member_id in self.members:
                nothing = ShareGroupCurrentMemberAssignmentValue(member_epoch=-1)
                self._put(with_current(self.members[key.member_id], nothing))
        elif isinstance(key, ShareGroupTargetAssignmentMetadataKey):
            self.assignment_epoch = self.assignment_timestamp_ms = 0
        elif isinstance(key, ShareGroupStatePartitionMetadataKey):
            self.state_topics = StateTopics()

    def _member(self, record: GroupRecord) -> ShareMember:
        member_id = _member_id(record)
        return self.members.get(member_id) or ShareMember(member_id)

    def _put(self, member: ShareMember) -> None:
        self.members[member.member_id] = member
        self._subscribed = None


def _member_id(record: GroupRecord) -> str:
    key = record.key
    assert isinstance(
        key,
        ShareGroupCurrentMemberAssignmentKey
        | ShareGroupMemberMetadataKey
        | ShareGroupTargetAssignmentMemberKey,
    )
    return key.member_id


class ShareGroups(GroupsById[ShareGroup]):
    """All share groups of a shard."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(ShareGroup, "ShareGroupMetadataKey")
