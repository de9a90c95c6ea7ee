"""What is wrong with a StreamsGroupHeartbeat, before it changes anything. Raises ApiError."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.group.config import GroupConfig
from penstock.group.streams.configure import ConfiguredTopology
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.member import (
    JOINING_EPOCH,
    LEAVING_EPOCH,
    STATIC_LEAVING_EPOCH,
    StreamsMember,
)
from penstock.group.streams.task import TaskSet, each, has_all
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.streams_group_heartbeat import (
    RequestTaskIds,
    StreamsGroupHeartbeatRequest,
    Topology,
)


def check_request(request: StreamsGroupHeartbeatRequest, config: GroupConfig) -> None:
    """What can be refused without looking at the group."""
    if not config.has_streams_protocol:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, "The streams protocol is switched off.")
    _check_not_yet(request)
    for name, value in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("RackId", request.rack_id),
    ):
        if value is not None and not value.strip():
            raise invalid(f"{name} can't be empty.")
    if request.member_epoch == JOINING_EPOCH:
        _check_join(request)
    else:
        _check_member(request)
    _check_tasks_told(request)


def _check_not_yet(request: StreamsGroupHeartbeatRequest) -> None:
    """What the protocol has a place for and Apache Kafka 4.3 does not serve either."""
    if request.instance_id is not None:
        raise invalid("Static membership is not yet supported.")
    if request.task_offsets is not None:
        raise invalid("TaskOffsets are not supported yet.")
    if request.task_end_offsets is not None:
        raise invalid("TaskEndOffsets are not supported yet.")
    if request.warmup_tasks:
        raise invalid("WarmupTasks are not supported yet.")
    if request.topology is None:
        return
    if any(one.source_topic_regex for one in request.topology.subtopologies):
        raise invalid("Regular expressions for source topics are not supported yet.")


def _check_join(request: StreamsGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise invalid("RebalanceTimeoutMs must be provided in first request.")
    for name, tasks in (
        ("ActiveTasks", request.active_tasks),
        ("StandbyTasks", request.standby_tasks),
        ("WarmupTasks", request.warmup_tasks),
    ):
        if tasks is None or tasks:
            raise invalid(f"{name} must be empty when (re-)joining.")
    if request.topology is None:
        raise invalid("Topology must be non-null when (re-)joining.")
    if request.topology.epoch < 0:
        raise invalid("The epoch of a topology must not be negative.")
    _check_topology(request.topology)


def _check_topology(topology: Topology) -> None:
    if len({one.subtopology_id for one in topology.subtopologies}) < len(topology.subtopologies):
        raise _invalid_topology("Two subtopologies have the same id.")
    for subtopology in topology.subtopologies:
        for one in subtopology.state_changelog_topics:
            if one.partitions:
                raise _invalid_topology(
                    f"Changelog topic {one.name} must have an undefined partition count, but it "
                    f"is set to {one.partitions}."
                )
        for one in subtopology.repartition_source_topics:
            if one.partitions < 0:
                raise _invalid_topology(f"Topic {one.name} has {one.partitions} partitions.")


def _invalid_topology(message: str) -> ApiError:
    return ApiError(ErrorCode.STREAMS_INVALID_TOPOLOGY, message)


def _check_member(request: StreamsGroupHeartbeatRequest) -> None:
    epoch = request.member_epoch
    if epoch == STATIC_LEAVING_EPOCH:
        raise invalid("InstanceId can't be null.")
    if epoch < STATIC_LEAVING_EPOCH:
        raise invalid(f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    if request.topology is not None:
        raise invalid("Topology can only be provided when (re-)joining.")


def _check_tasks_told(request: StreamsGroupHeartbeatRequest) -> None:
    told = [request.active_tasks, request.standby_tasks, request.warmup_tasks]
    if any(one is not None for one in told) and any(one is None for one in told):
        raise invalid("If one task-type is non-null, all must be non-null.")


def check_size(group: StreamsGroup, member_id: str, size_max: int) -> None:
    if member_id not in group.members and len(group.members) >= size_max:
        raise ApiError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The streams group has reached its maximum capacity of {size_max} members.",
        )


def known_member(group: StreamsGroup, member_id: str) -> StreamsMember:
    member = group.members.get(member_id)
    if member is None:
        raise ApiError(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member {member_id} is not a member of group {group.group_id}.",
        )
    return member


def check_epoch(member: StreamsMember, epoch: int, reported: TaskSet | None) -> None:
    """The epoch before is taken too, from a member that may have missed one answer: it then has
    nothing that it does not have by that answer as well."""
    if epoch in (JOINING_EPOCH, member.epoch):
        return
    missed = epoch < member.epoch and epoch == member.previous_epoch
    if not missed or reported is None or not has_all(reported, member.owned):
        raise ApiError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The member's epoch is {member.epoch}, not {epoch}: it must give up its tasks and "
            "join again.",
        )


def check_tasks(configured: ConfiguredTopology, reported: TaskSet | None) -> None:
    for tasks in reported or ():
        for name, partition in each(tasks):
            subtopology = configured.subtopologies.get(name)
            if subtopology is None:
                raise invalid(f"Subtopology {name} does not exist in the topology.")
            if not 0 <= partition < subtopology.task_count:
                raise invalid(
                    f"Task {partition} for subtopology {name} is invalid. Number of tasks for "
                    f"this subtopology: {subtopology.task_count}"
                )


def reported_tasks(request: StreamsGroupHeartbeatRequest) -> TaskSet | None:
    active, standby = request.active_tasks, request.standby_tasks
    if active is None or standby is None:
        return None
    return TaskSet(_tasks(active), _tasks(standby), _tasks(request.warmup_tasks or ()))


def _tasks(told: Iterable[RequestTaskIds]) -> dict[str, frozenset[int]]:
    return {one.subtopology_id: frozenset(one.partitions) for one in told if one.partitions}


def is_leaving(request: StreamsGroupHeartbeatRequest) -> bool:
    return request.member_epoch == LEAVING_EPOCH


def invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def group_not_found(message: str) -> ApiError:
    return ApiError(ErrorCode.GROUP_ID_NOT_FOUND, message)
