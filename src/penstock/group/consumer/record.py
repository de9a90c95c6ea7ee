"""The records of consumer groups: made from members, and read back into them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.group.consumer.member import ClassicSide, ConsumerMember, Owned, Partitions
from penstock.group.consumer.state import MemberState
from penstock.group.record import ConsumerKey, GroupRecord
from penstock.model.id import TopicId
from penstock.protocol.messages.records.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from penstock.protocol.messages.records.consumer_group_member_metadata import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
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
    TopicPartition,
)
from penstock.protocol.messages.records.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> GroupRecord:
    return GroupRecord(
        ConsumerGroupMetadataKey(group_id=group_id),
        ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def member_record(group_id: str, member: ConsumerMember) -> GroupRecord:
    return GroupRecord(
        ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id),
        ConsumerGroupMemberMetadataValue(
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topics),
            subscribed_topic_regex=member.regex,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            server_assignor=member.assignor,
            classic_member_metadata=_stored_classic(member.classic),
        ),
    )


def target_record(group_id: str, member_id: str, target: Partitions) -> GroupRecord:
    return GroupRecord(
        ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        ConsumerGroupTargetAssignmentMemberValue(
            topic_partitions=[
                TopicPartition(topic_id=topic_id, partitions=sorted(found))
                for topic_id, found in target.items()
            ]
        ),
    )


def target_epoch_record(group_id: str, epoch: int, now_ms: int) -> GroupRecord:
    return GroupRecord(
        ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id),
        ConsumerGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=now_ms
        ),
    )


def current_record(group_id: str, member: ConsumerMember) -> GroupRecord:
    return GroupRecord(
        ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id),
        ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=member.state,
            assigned_partitions=_stored_owned(member.owned),
            partitions_pending_revocation=_stored_owned(member.revoking),
        ),
    )


def regex_record(
    group_id: str, regex: str, topics: Iterable[str], version: int, now_ms: int
) -> GroupRecord:
    return GroupRecord(
        ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex),
        ConsumerGroupRegularExpressionValue(
            topics=sorted(topics), version=version, timestamp=now_ms
        ),
    )


def regex_tombstone(group_id: str, regex: str) -> GroupRecord:
    return _tombstone(
        ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    )


def partition_metadata_tombstone(group_id: str) -> GroupRecord:
    """Releases before 4.1 wrote the group's topics there; the hash has taken their place."""
    return _tombstone(ConsumerGroupPartitionMetadataKey(group_id=group_id))


def member_tombstones(group_id: str, member_id: str) -> list[GroupRecord]:
    """In the order in which a member is taken apart."""
    ids = {"group_id": group_id, "member_id": member_id}
    return [
        _tombstone(ConsumerGroupCurrentMemberAssignmentKey(**ids)),
        _tombstone(ConsumerGroupTargetAssignmentMemberKey(**ids)),
        _tombstone(ConsumerGroupMemberMetadataKey(**ids)),
    ]


def group_tombstones(group_id: str) -> list[GroupRecord]:
    """Of a group whose members and expressions are gone."""
    return [
        _tombstone(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)),
        partition_metadata_tombstone(group_id),
        _tombstone(ConsumerGroupMetadataKey(group_id=group_id)),
    ]


# --- reading back ---


def with_identity(
    member: ConsumerMember, value: ConsumerGroupMemberMetadataValue
) -> ConsumerMember:
    return replace(
        member,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topics=frozenset(value.subscribed_topic_names),
        regex=value.subscribed_topic_regex or "",
        assignor=value.server_assignor,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        classic=_classic_of(value.classic_member_metadata),
    )


def with_current(
    member: ConsumerMember, value: ConsumerGroupCurrentMemberAssignmentValue
) -> ConsumerMember:
    return replace(
        member,
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=state_of(value.state),
        owned=_owned_of(value.assigned_partitions, value.member_epoch),
        revoking=_owned_of(value.partitions_pending_revocation, value.member_epoch),
    )


def target_of(value: ConsumerGroupTargetAssignmentMemberValue) -> Partitions:
    return {one.topic_id: frozenset(one.partitions) for one in value.topic_partitions}


def _tombstone(key: ConsumerKey) -> GroupRecord:
    return GroupRecord(key, None)


def _stored_classic(classic: ClassicSide | None) -> ClassicMemberMetadata | None:
    if classic is None:
        return None
    return ClassicMemberMetadata(
        session_timeout_ms=classic.session_timeout_ms,
        supported_protocols=[
            ClassicProtocol(name=name, metadata=metadata) for name, metadata in classic.protocols
        ],
    )


def _classic_of(stored: ClassicMemberMetadata | None) -> ClassicSide | None:
    if stored is None:
        return None
    protocols = tuple((one.name, bytes(one.metadata)) for one in stored.supported_protocols)
    return ClassicSide(stored.session_timeout_ms, protocols)


def _stored_owned(owned: Owned) -> list[TopicPartitions]:
    stored = []
    for topic_id, found in owned.items():
        partitions = sorted(found)
        epochs = [found[one] for one in partitions]
        stored.append(
            TopicPartitions(topic_id=topic_id, partitions=partitions, assignment_epochs=epochs)
        )
    return stored


def _owned_of(stored: Iterable[TopicPartitions], member_epoch: int) -> Owned:
    """Where no epochs were written, by releases before 4.3, the member's own stands for them."""
    owned: dict[TopicId, dict[int, int]] = {}
    for one in stored:
        epochs = one.assignment_epochs
        if epochs is None or len(epochs) != len(one.partitions):
            epochs = [member_epoch] * len(one.partitions)
        owned[one.topic_id] = dict(zip(one.partitions, epochs, strict=True))
    return owned


def state_of(number: int) -> MemberState:
    try:
        return MemberState(number)
    except ValueError:
        return MemberState.UNKNOWN
