"""The records of share groups: made from members, and read back into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from penstock.group.record import GroupRecord, ShareGroupKey
from penstock.group.share.member import Partitions, ShareMember
from penstock.model.id import TopicId
from penstock.protocol.messages.records.share_group_current_member_assignment import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from penstock.protocol.messages.records.share_group_member_metadata import (
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.share_group_metadata import (
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
)
from penstock.protocol.messages.records.share_group_state_partition_metadata import (
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    TopicInfo,
    TopicPartitionsInfo,
)
from penstock.protocol.messages.records.share_group_target_assignment_member import (
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from penstock.protocol.messages.records.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)


class SharedTopic(NamedTuple):
    """Partitions of a topic, of whose state something is known. The name is for people."""

    name: str
    partitions: frozenset[int]


SharedTopics = Mapping[TopicId, SharedTopic]


class StateTopics(NamedTuple):
    """Which share partitions have state: those that are being given some, those that have it, and
    topics of which it is being deleted."""

    initializing: SharedTopics = MappingProxyType({})
    initialized: SharedTopics = MappingProxyType({})
    deleting: Mapping[TopicId, str] = MappingProxyType({})


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> GroupRecord:
    return GroupRecord(
        ShareGroupMetadataKey(group_id=group_id),
        ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def member_record(group_id: str, member: ShareMember) -> GroupRecord:
    return GroupRecord(
        ShareGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id),
        ShareGroupMemberMetadataValue(
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topics),
        ),
    )


def target_record(group_id: str, member_id: str, target: Partitions) -> GroupRecord:
    return GroupRecord(
        ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        ShareGroupTargetAssignmentMemberValue(
            topic_partitions=[
                TopicPartition(topic_id=topic_id, partitions=sorted(found))
                for topic_id, found in target.items()
            ]
        ),
    )


def target_epoch_record(group_id: str, epoch: int, now_ms: int) -> GroupRecord:
    return GroupRecord(
        ShareGroupTargetAssignmentMetadataKey(group_id=group_id),
        ShareGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=now_ms
        ),
    )


def current_record(group_id: str, member: ShareMember) -> GroupRecord:
    return GroupRecord(
        ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id),
        ShareGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=0,
            assigned_partitions=[
                TopicPartitions(topic_id=topic_id, partitions=sorted(found))
                for topic_id, found in member.assigned.items()
            ],
        ),
    )


def state_record(group_id: str, topics: StateTopics) -> GroupRecord:
    return GroupRecord(
        ShareGroupStatePartitionMetadataKey(group_id=group_id),
        ShareGroupStatePartitionMetadataValue(
            initializing_topics=_stored(topics.initializing),
            initialized_topics=_stored(topics.initialized),
            deleting_topics=[
                TopicInfo(topic_id=topic_id, topic_name=name)
                for topic_id, name in topics.deleting.items()
            ],
        ),
    )


def member_tombstones(group_id: str, member_id: str) -> list[GroupRecord]:
    """In the order in which a member is taken apart."""
    ids = {"group_id": group_id, "member_id": member_id}
    return [
        _tombstone(ShareGroupCurrentMemberAssignmentKey(**ids)),
        _tombstone(ShareGroupTargetAssignmentMemberKey(**ids)),
        _tombstone(ShareGroupMemberMetadataKey(**ids)),
    ]


def group_tombstones(group_id: str) -> list[GroupRecord]:
    """Of a group whose members are gone."""
    return [
        _tombstone(ShareGroupTargetAssignmentMetadataKey(group_id=group_id)),
        _tombstone(ShareGroupStatePartitionMetadataKey(group_id=group_id)),
        _tombstone(ShareGroupMetadataKey(group_id=group_id)),
    ]


# --- reading back ---


def with_identity(member: ShareMember, value: ShareGroupMemberMetadataValue) -> ShareMember:
    return replace(
        member,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topics=frozenset(value.subscribed_topic_names),
    )


def with_current(member: ShareMember, value: ShareGroupCurrentMemberAssignmentValue) -> ShareMember:
    return replace(
        member,
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        assigned={one.topic_id: frozenset(one.partitions) for one in value.assigned_partitions},
    )


def target_of(value: ShareGroupTargetAssignmentMemberValue) -> Partitions:
    return {one.topic_id: frozenset(one.partitions) for one in value.topic_partitions}


def state_of(value: ShareGroupStatePartitionMetadataValue) -> StateTopics:
    return StateTopics(
        _shared(value.initializing_topics),
        _shared(value.initialized_topics),
        {one.topic_id: one.topic_name for one in value.deleting_topics},
    )


def _stored(topics: SharedTopics) -> list[TopicPartitionsInfo]:
    return [
        TopicPartitionsInfo(
            topic_id=topic_id, topic_name=one.name, partitions=sorted(one.partitions)
        )
        for topic_id, one in topics.items()
    ]


def _shared(stored: Iterable[TopicPartitionsInfo]) -> SharedTopics:
    return {one.topic_id: SharedTopic(one.topic_name, frozenset(one.partitions)) for one in stored}


def _tombstone(key: ShareGroupKey) -> GroupRecord:
    return GroupRecord(key, None)
