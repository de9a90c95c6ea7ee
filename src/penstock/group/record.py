"""The records of `__consumer_offsets` as the shard writes and replays them.

Owns the pairs of key and value and the version each value is written in. Encoding them is the
journal's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.model.id import TopicId
from penstock.protocol.messages.records.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from penstock.protocol.messages.records.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from penstock.protocol.messages.records.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
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
from penstock.protocol.messages.records.group_metadata import GroupMetadataKey, GroupMetadataValue
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey, OffsetCommitValue
from penstock.protocol.messages.records.share_group_current_member_assignment import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
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
)
from penstock.protocol.messages.records.share_group_target_assignment_member import (
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
)
from penstock.protocol.messages.records.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)

if TYPE_CHECKING:
    from penstock.group.streams.key import StreamsKey, StreamsValue

NO_PRODUCER = -1

GROUP_METADATA_VALUE_VERSION = 3
"""Kafka 4.3 still writes the last version without tagged fields."""
OFFSET_COMMIT_VALUE_VERSION = 4
OFFSET_COMMIT_VALUE_VERSION_WITH_EXPIRY = 1
"""The only version that can hold an expiry time of its own (OffsetCommit below version 5)."""

ConsumerKey = (
    ConsumerGroupMetadataKey
    | ConsumerGroupMemberMetadataKey
    | ConsumerGroupTargetAssignmentMetadataKey
    | ConsumerGroupTargetAssignmentMemberKey
    | ConsumerGroupCurrentMemberAssignmentKey
    | ConsumerGroupRegularExpressionKey
    | ConsumerGroupPartitionMetadataKey
)
ConsumerValue = (
    ConsumerGroupMetadataValue
    | ConsumerGroupMemberMetadataValue
    | ConsumerGroupTargetAssignmentMetadataValue
    | ConsumerGroupTargetAssignmentMemberValue
    | ConsumerGroupCurrentMemberAssignmentValue
    | ConsumerGroupRegularExpressionValue
    | ConsumerGroupPartitionMetadataValue
)
ShareGroupKey = (
    ShareGroupMetadataKey
    | ShareGroupMemberMetadataKey
    | ShareGroupTargetAssignmentMetadataKey
    | ShareGroupTargetAssignmentMemberKey
    | ShareGroupCurrentMemberAssignmentKey
    | ShareGroupStatePartitionMetadataKey
)
ShareGroupValue = (
    ShareGroupMetadataValue
    | ShareGroupMemberMetadataValue
    | ShareGroupTargetAssignmentMetadataValue
    | ShareGroupTargetAssignmentMemberValue
    | ShareGroupCurrentMemberAssignmentValue
    | ShareGroupStatePartitionMetadataValue
)
GroupKey = OffsetCommitKey | GroupMetadataKey | ConsumerKey | ShareGroupKey
GroupValue = OffsetCommitValue | GroupMetadataValue | ConsumerValue | ShareGroupValue


class GroupRecord(NamedTuple):
    """`value` None is a tombstone. A record with a producer belongs to that producer's open
    transaction: it counts once the transaction's marker says commit."""

    key: GroupKey | StreamsKey
    value: GroupValue | StreamsValue | None
    value_version: int = 0
    producer_id: int = NO_PRODUCER
    producer_epoch: int = -1


class TxnMarker(NamedTuple):
    """The end of a producer's transaction, where the log has a control batch."""

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int = 0
    """Of the transaction's coordinator. The log looks at it, the shard does not."""


GroupEntry = GroupRecord | TxnMarker
"""Whatever the log of a shard can hold."""


def group_metadata_record(group_id: str, value: GroupMetadataValue) -> GroupRecord:
    return GroupRecord(GroupMetadataKey(group=group_id), value, GROUP_METADATA_VALUE_VERSION)


def group_tombstone(group_id: str) -> GroupRecord:
    return GroupRecord(GroupMetadataKey(group=group_id), None)


def offset_commit_record(
    group_id: str,
    topic: str,
    partition: int,
    value: OffsetCommitValue,
    producer_id: int = NO_PRODUCER,
    producer_epoch: int = -1,
) -> GroupRecord:
    expires = value.expire_timestamp != -1
    return GroupRecord(
        OffsetCommitKey(group=group_id, topic=topic, partition=partition),
        value,
        OFFSET_COMMIT_VALUE_VERSION_WITH_EXPIRY if expires else OFFSET_COMMIT_VALUE_VERSION,
        producer_id,
        producer_epoch,
    )


def offset_tombstone(group_id: str, topic: str, partition: int) -> GroupRecord:
    return GroupRecord(OffsetCommitKey(group=group_id, topic=topic, partition=partition), None)


def same_topic(stored_id: TopicId, asked_id: TopicId) -> bool:
    """Ids are compared only where both are known: older requests and records have none."""
    return not any(stored_id) or not any(asked_id) or stored_id == asked_id
