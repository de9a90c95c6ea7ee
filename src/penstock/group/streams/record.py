"""The records of streams groups: made from members, and read back into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from penstock.group.consumer.record import state_of
from penstock.group.record import GroupRecord
from penstock.group.streams.key import StreamsKey
from penstock.group.streams.member import StreamsMember
from penstock.group.streams.task import OwnedTasks, TaskEpochs, Tasks, TaskSet
from penstock.protocol.messages.records.streams_group_current_member_assignment import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    TaskIds,
)
from penstock.protocol.messages.records.streams_group_member_metadata import (
    Endpoint,
    KeyValue,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.streams_group_metadata import (
    LastAssignmentConfig,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
)
from penstock.protocol.messages.records.streams_group_target_assignment_member import (
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
)
from penstock.protocol.messages.records.streams_group_target_assignment_member import (
    TaskIds as TargetTaskIds,
)
from penstock.protocol.messages.records.streams_group_target_assignment_metadata import (
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
)
from penstock.protocol.messages.records.streams_group_topology import (
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)


def epoch_record(
    group_id: str,
    epoch: int,
    metadata_hash: int,
    validated_epoch: int,
    configs: Mapping[str, str],
) -> GroupRecord:
    return GroupRecord(
        StreamsGroupMetadataKey(group_id=group_id),
        StreamsGroupMetadataValue(
            epoch=epoch,
            metadata_hash=metadata_hash,
            validated_topology_epoch=validated_epoch,
            last_assignment_configs=[
                LastAssignmentConfig(key=key, value=configs[key]) for key in sorted(configs)
            ],
        ),
    )


def topology_record(group_id: str, topology: StreamsGroupTopologyValue) -> GroupRecord:
    return GroupRecord(StreamsGroupTopologyKey(group_id=group_id), topology)


def member_record(group_id: str, member: StreamsMember) -> GroupRecord:
    endpoint = member.endpoint
    return GroupRecord(
        StreamsGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id),
        StreamsGroupMemberMetadataValue(
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            topology_epoch=member.topology_epoch,
            process_id=member.process_id,
            user_endpoint=None
            if endpoint is None
            else Endpoint(host=endpoint[0], port=endpoint[1]),
            client_tags=[KeyValue(key=key, value=value) for key, value in member.tags],
        ),
    )


def target_record(group_id: str, member_id: str, target: TaskSet) -> GroupRecord:
    return GroupRecord(
        StreamsGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        StreamsGroupTargetAssignmentMemberValue(
            active_tasks=_target_ids(target.active),
            standby_tasks=_target_ids(target.standby),
            warmup_tasks=_target_ids(target.warmup),
        ),
    )


def target_epoch_record(group_id: str, epoch: int, now_ms: int) -> GroupRecord:
    return GroupRecord(
        StreamsGroupTargetAssignmentMetadataKey(group_id=group_id),
        StreamsGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=now_ms
        ),
    )


def current_record(group_id: str, member: StreamsMember) -> GroupRecord:
    owned, revoking = member.owned, member.revoking
    return GroupRecord(
        StreamsGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id),
        StreamsGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=member.state,
            active_tasks=_ids_with_epochs(owned.active),
            standby_tasks=_ids(owned.standby),
            warmup_tasks=_ids(owned.warmup),
            active_tasks_pending_revocation=_ids_with_epochs(revoking.active),
            standby_tasks_pending_revocation=_ids(revoking.standby),
            warmup_tasks_pending_revocation=_ids(revoking.warmup),
        ),
    )


def member_tombstones(group_id: str, member_id: str) -> list[GroupRecord]:
    """In the order in which a member is taken apart."""
    ids = {"group_id": group_id, "member_id": member_id}
    return [
        _tombstone(StreamsGroupCurrentMemberAssignmentKey(**ids)),
        _tombstone(StreamsGroupTargetAssignmentMemberKey(**ids)),
        _tombstone(StreamsGroupMemberMetadataKey(**ids)),
    ]


def group_tombstones(group_id: str) -> list[GroupRecord]:
    """Of a group whose members are gone. The group ends with the last of them."""
    return [
        _tombstone(StreamsGroupTargetAssignmentMetadataKey(group_id=group_id)),
        _tombstone(StreamsGroupTopologyKey(group_id=group_id)),
        _tombstone(StreamsGroupMetadataKey(group_id=group_id)),
    ]


# --- reading back ---


def with_identity(member: StreamsMember, value: StreamsGroupMemberMetadataValue) -> StreamsMember:
    endpoint = value.user_endpoint
    return replace(
        member,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        topology_epoch=value.topology_epoch,
        process_id=value.process_id,
        endpoint=None if endpoint is None else (endpoint.host, endpoint.port),
        tags=tuple((one.key, one.value) for one in value.client_tags),
    )


def with_current(
    member: StreamsMember, value: StreamsGroupCurrentMemberAssignmentValue
) -> StreamsMember:
    return replace(
        member,
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=state_of(value.state),
        owned=OwnedTasks(
            _epochs_of(value.active_tasks, value.member_epoch),
            tasks_of(value.standby_tasks),
            tasks_of(value.warmup_tasks),
        ),
        revoking=OwnedTasks(
            _epochs_of(value.active_tasks_pending_revocation, value.member_epoch),
            tasks_of(value.standby_tasks_pending_revocation),
            tasks_of(value.warmup_tasks_pending_revocation),
        ),
    )


def target_of(value: StreamsGroupTargetAssignmentMemberValue) -> TaskSet:
    return TaskSet(
        tasks_of(value.active_tasks),
        tasks_of(value.standby_tasks),
        tasks_of(value.warmup_tasks),
    )


def tasks_of(stored: Iterable[TaskIds | TargetTaskIds]) -> Tasks:
    return {one.subtopology_id: frozenset(one.partitions) for one in stored}


def _tombstone(key: StreamsKey) -> GroupRecord:
    return GroupRecord(key, None)


def _target_ids(tasks: Tasks) -> list[TargetTaskIds]:
    return [
        TargetTaskIds(subtopology_id=name, partitions=sorted(tasks[name])) for name in sorted(tasks)
    ]


def _ids(tasks: Tasks) -> list[TaskIds]:
    return [TaskIds(subtopology_id=name, partitions=sorted(tasks[name])) for name in sorted(tasks)]


def _ids_with_epochs(tasks: TaskEpochs) -> list[TaskIds]:
    stored = []
    for name in sorted(tasks):
        partitions = sorted(tasks[name])
        epochs = [tasks[name][one] for one in partitions]
        stored.append(TaskIds(subtopology_id=name, partitions=partitions, assignment_epochs=epochs))
    return stored


def _epochs_of(stored: Iterable[TaskIds], member_epoch: int) -> TaskEpochs:
    """Where no epochs were written, the member's own stands for them."""
    owned = {}
    for one in stored:
        epochs = one.assignment_epochs
        if epochs is None or len(epochs) != len(one.partitions):
            epochs = [member_epoch] * len(one.partitions)
        owned[one.subtopology_id] = dict(zip(one.partitions, epochs, strict=True))
    return owned
