"""What a record of the log does to a streams group."""

from __future__ import annotations

from penstock.group.record import GroupRecord
from penstock.group.streams.group import FIRST_EPOCH, StreamsGroup
from penstock.group.streams.member import StreamsMember
from penstock.group.streams.record import target_of, with_current, with_identity
from penstock.group.streams.topology import required_topics, source_topics
from penstock.model.error import InvariantError
from penstock.protocol.messages.records.streams_group_current_member_assignment import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
)
from penstock.protocol.messages.records.streams_group_member_metadata import (
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.streams_group_metadata import StreamsGroupMetadataValue
from penstock.protocol.messages.records.streams_group_target_assignment_member import (
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
)
from penstock.protocol.messages.records.streams_group_target_assignment_metadata import (
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
)
from penstock.protocol.messages.records.streams_group_topology import (
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)

_MemberKey = (
    StreamsGroupCurrentMemberAssignmentKey
    | StreamsGroupMemberMetadataKey
    | StreamsGroupTargetAssignmentMemberKey
)


def apply(group: StreamsGroup, record: GroupRecord) -> None:
    """Records of a member may come in any order at a load: each builds on what is there."""
    value = record.value
    if isinstance(value, StreamsGroupCurrentMemberAssignmentValue):
        group.put(with_current(_member(group, record), value))
    elif isinstance(value, StreamsGroupMemberMetadataValue):
        group.put(with_identity(_member(group, record), value))
    elif isinstance(value, StreamsGroupTargetAssignmentMemberValue):
        group.targets[_member_id(record)] = target_of(value)
    elif isinstance(value, StreamsGroupMetadataValue):
        _apply_epoch(group, value)
    elif isinstance(value, StreamsGroupTargetAssignmentMetadataValue):
        group.assignment_epoch = value.assignment_epoch
        group.assignment_timestamp_ms = value.assignment_timestamp
    elif isinstance(value, StreamsGroupTopologyValue):
        _apply_topology(group, value)
    elif value is None:
        _apply_tombstone(group, record)
    else:
        raise InvariantError(f"{value.NAME} in a streams group")


def _apply_epoch(group: StreamsGroup, value: StreamsGroupMetadataValue) -> None:
    group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
    group.validated_epoch = value.validated_topology_epoch
    group.configs = {one.key: one.value for one in value.last_assignment_configs or ()}


def _apply_topology(group: StreamsGroup, value: StreamsGroupTopologyValue | None) -> None:
    group.topology = value
    group.sources = {} if value is None else source_topics(value)
    group.required = frozenset() if value is None else required_topics(value)
    group.configured = None


def _apply_tombstone(group: StreamsGroup, record: GroupRecord) -> None:
    key = record.key
    if isinstance(key, StreamsGroupCurrentMemberAssignmentKey):
        if key.member_id in group.members:
            nothing = StreamsGroupCurrentMemberAssignmentValue(
                member_epoch=-1, previous_member_epoch=-1
            )
            group.put(with_current(group.members[key.member_id], nothing))
    elif isinstance(key, StreamsGroupTargetAssignmentMemberKey):
        group.targets.pop(key.member_id, None)
    elif isinstance(key, StreamsGroupMemberMetadataKey):
        group.remove(key.member_id)
    elif isinstance(key, StreamsGroupTargetAssignmentMetadataKey):
        group.assignment_epoch, group.assignment_timestamp_ms = FIRST_EPOCH, 0
    elif isinstance(key, StreamsGroupTopologyKey):
        _apply_topology(group, None)


def _member(group: StreamsGroup, record: GroupRecord) -> StreamsMember:
    member_id = _member_id(record)
    return group.members.get(member_id) or StreamsMember(member_id)


def _member_id(record: GroupRecord) -> str:
    assert isinstance(record.key, _MemberKey)
    return record.key.member_id
