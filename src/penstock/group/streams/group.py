"""A streams group: all that lasts is in the log, and `apply` is the only way in.

A decision works on a copy, as with consumer groups. Soft are what the topology comes to with the
topics of now, reminders, and what members told each other through the coordinator. Light: what
reads records is loaded with the first of them.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import TYPE_CHECKING

from penstock.group.by_id import GroupsById
from penstock.group.record import GroupRecord
from penstock.group.streams.task import TaskSet, each

if TYPE_CHECKING:
    from penstock.group.streams.configure import ConfiguredTopology
    from penstock.group.streams.member import StreamsMember
    from penstock.protocol.messages.records.streams_group_topology import StreamsGroupTopologyValue

FIRST_EPOCH = 1
"""Before anything has happened: what a group goes through begins with epoch 2."""

NOT_VALIDATED = -1


class StreamsGroupState(Enum):
    """Values are the names clients see."""

    EMPTY = "Empty"
    NOT_READY = "NotReady"
    """Topics are missing, or do not fit the topology."""
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class StreamsGroup:
    __slots__ = (
        "active_owners",
        "assignment_epoch",
        "assignment_timestamp_ms",
        "configs",
        "configured",
        "copy_owners",
        "delayed_until_ms",
        "empty_since_ms",
        "endpoint_epoch",
        "epoch",
        "group_id",
        "members",
        "metadata_hash",
        "must_check_topics",
        "required",
        "shutdown_member_id",
        "sources",
        "targets",
        "topology",
        "validated_epoch",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.validated_epoch = NOT_VALIDATED
        self.configs: dict[str, str] = {}
        """With which tasks were last assigned."""
        self.assignment_epoch = FIRST_EPOCH
        self.assignment_timestamp_ms = 0
        self.topology: StreamsGroupTopologyValue | None = None
        self.sources: dict[str, str] = {}
        """Subtopologies by the topics that they read."""
        self.required: frozenset[str] = frozenset()
        self.members: dict[str, StreamsMember] = {}
        self.targets: dict[str, TaskSet] = {}
        self.active_owners: dict[tuple[str, int], str] = {}
        self.copy_owners: dict[tuple[str, int], frozenset[str]] = {}
        """Who has a task as standby or warm-up."""
        # Soft
        self.configured: ConfiguredTopology | None = None
        self.must_check_topics = True
        self.delayed_until_ms: int | None = None
        """The first assignment waits until then for more members."""
        self.shutdown_member_id: str | None = None
        self.endpoint_epoch = 0
        self.empty_since_ms: int | None = None

    def copy(self) -> StreamsGroup:
        made = StreamsGroup(self.group_id)
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
        """Its offsets may be deleted topic by topic, like those of consumers."""
        return True

    @property
    def state(self) -> StreamsGroupState:
        if not self.members:
            return StreamsGroupState.EMPTY
        if self.topology is None or self.topology.epoch != self.validated_epoch:
            return StreamsGroupState.NOT_READY
        if self.epoch > self.assignment_epoch:
            return StreamsGroupState.ASSIGNING
        if all(one.is_settled(self.assignment_epoch) for one in self.members.values()):
            return StreamsGroupState.STABLE
        return StreamsGroupState.RECONCILING

    def is_subscribed(self, topic: str) -> bool:
        return bool(self.members) and topic in self.sources

    def target_of(self, member_id: str) -> TaskSet:
        return self.targets.get(member_id, TaskSet())

    def is_active_free(self, member: StreamsMember, task: tuple[str, int]) -> bool:
        """Nobody else works on it, and no copy of its state is open in the same process."""
        owner = self.active_owners.get(task, member.member_id)
        return owner == member.member_id and not self._has_copy(member, task)

    def is_copy_free(self, member: StreamsMember, task: tuple[str, int]) -> bool:
        owner = self.active_owners.get(task, member.member_id)
        return not self._is_beside(member, owner) and not self._has_copy(member, task)

    def _has_copy(self, member: StreamsMember, task: tuple[str, int]) -> bool:
        return any(self._is_beside(member, one) for one in self.copy_owners.get(task, ()))

    def _is_beside(self, member: StreamsMember, other_id: str) -> bool:
        """Whether another member lives in the same process, and so uses the same directory."""
        if other_id == member.member_id:
            return False
        return self.members[other_id].process_id == member.process_id

    # --- changes ---

    def apply(self, record: GroupRecord) -> None:
        from penstock.group.streams.replay import apply

        apply(self, record)

    def put(self, member: StreamsMember) -> None:
        before = self.members.get(member.member_id)
        if before is not None:
            self._release(before)
        self.members[member.member_id] = member
        self.empty_since_ms = None
        for owned in (member.owned, member.revoking):
            for task in each(owned.active):
                self.active_owners[task] = member.member_id
            for tasks in (owned.standby, owned.warmup):
                for task in each(tasks):
                    owners = self.copy_owners.get(task, frozenset())
                    self.copy_owners[task] = owners | {member.member_id}

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is not None:
            self._release(member)
        if not self.members:
            self.shutdown_member_id = None

    def _release(self, member: StreamsMember) -> None:
        for owned in (member.owned, member.revoking):
            for task in each(owned.active):
                if self.active_owners.get(task) == member.member_id:
                    del self.active_owners[task]
            for tasks in (owned.standby, owned.warmup):
                for task in each(tasks):
                    self._release_copy(task, member.member_id)

    def _release_copy(self, task: tuple[str, int], member_id: str) -> None:
        left = self.copy_owners.get(task, frozenset()) - {member_id}
        if left:
            self.copy_owners[task] = left
        else:
            self.copy_owners.pop(task, None)


class StreamsGroups(GroupsById[StreamsGroup]):
    """All streams groups of a shard."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(StreamsGroup, "StreamsGroupMetadataKey")

    def note_changed(self, topics: Collection[str]) -> None:
        """The groups that need these see to it with the next heartbeat of any of their members."""
        for group in self:
            if not group.required.isdisjoint(topics):
                group.must_check_topics = True
