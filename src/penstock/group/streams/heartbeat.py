"""A member of a streams group joins, or says that it lives and what it has: it learns what it
shall have, and how the group stands.

The steps: the member as it now says it is, the topology and its topics, the group's target
assignment if something changed, the member's way to its target.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from penstock.group.caller import Caller
from penstock.group.consumer.state import MemberState
from penstock.group.streams.check import check_epoch, check_tasks, known_member, reported_tasks
from penstock.group.streams.configure import InternalTopic
from penstock.group.streams.draft import StreamsDraft
from penstock.group.streams.endpoint import partitions_by_endpoint
from penstock.group.streams.member import JOINING_EPOCH, StreamsMember
from penstock.group.streams.reconcile import Goal, reconcile
from penstock.group.streams.record import current_record, member_record
from penstock.group.streams.setting import StreamsSettings
from penstock.group.streams.status import StatusCode
from penstock.group.streams.target import (
    bump_epoch,
    check_topics,
    goal_of,
    take_topology,
    update_target,
)
from penstock.group.streams.task import Tasks, TaskSet
from penstock.group.timer import RevocationTimer
from penstock.protocol.messages.streams_group_heartbeat import (
    ResponseTaskIds,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

_WAITING_INTERVAL_MS = 1_000
_WAITING_INTERVAL_MS_MIN = 100


class Outcome(NamedTuple):
    response: StreamsGroupHeartbeatResponse
    missing: tuple[InternalTopic, ...] = ()
    """Topics to be made for the group."""


def heartbeat(
    draft: StreamsDraft,
    request: StreamsGroupHeartbeatRequest,
    caller: Caller,
    settings: StreamsSettings,
) -> Outcome:
    reported = reported_tasks(request)
    before = _find_or_make(draft, request, reported)
    was_empty = draft.group.is_empty
    changed = _introduce(draft, before, _updated(before, request, caller))
    take_topology(draft, request.topology)
    _tell_stale(draft, draft.group.members[before.member_id])
    configured = check_topics(draft)
    if configured.is_ready:
        check_tasks(configured, reported)
    bump_epoch(draft, changed, settings)
    if was_empty and draft.delayed_until_ms is None and settings.initial_rebalance_delay_ms:
        draft.start_delay(settings.initial_rebalance_delay_ms)
    update_target(draft, settings)
    after = _advance(draft, before.member_id, reported)
    draft.start_session(after.member_id, settings.session_timeout_ms)
    _tell_group(draft, request)
    return Outcome(_response(draft, request, before, after, settings), configured.missing)


def _find_or_make(
    draft: StreamsDraft, request: StreamsGroupHeartbeatRequest, reported: TaskSet | None
) -> StreamsMember:
    member_id, epoch = request.member_id, request.member_epoch
    if epoch == JOINING_EPOCH:
        return draft.group.members.get(member_id) or StreamsMember(member_id)
    member = known_member(draft.group, member_id)
    check_epoch(member, epoch, reported)
    return member


def _updated(
    member: StreamsMember, request: StreamsGroupHeartbeatRequest, caller: Caller
) -> StreamsMember:
    """What a request leaves out stays as it was: in most heartbeats, everything."""
    timeout_ms, topology = request.rebalance_timeout_ms, request.topology
    endpoint, tags, process_id = request.user_endpoint, request.client_tags, request.process_id
    return replace(
        member,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        topology_epoch=member.topology_epoch if topology is None else topology.epoch,
        process_id=member.process_id if process_id is None else process_id,
        endpoint=member.endpoint if endpoint is None else (endpoint.host, endpoint.port),
        tags=member.tags if tags is None else tuple(sorted((one.key, one.value) for one in tags)),
        client_id=caller.client_id,
        client_host=caller.client_host,
    )


def _introduce(draft: StreamsDraft, before: StreamsMember, after: StreamsMember) -> bool:
    """Whether the member is new, or says something new of itself."""
    changed = after.member_id not in draft.group.members or after != before
    if changed:
        draft.write(member_record(draft.group_id, after))
    return changed


def _advance(draft: StreamsDraft, member_id: str, reported: TaskSet | None) -> StreamsMember:
    group = draft.group
    member = group.members[member_id]
    if member.is_settled(group.assignment_epoch):
        return member
    goal = Goal(
        group.assignment_epoch,
        goal_of(draft, member_id),
        reported,
        lambda task: group.is_active_free(member, task),
        lambda task: group.is_copy_free(member, task),
    )
    moved = reconcile(member, goal)
    if moved != member:
        draft.write(current_record(draft.group_id, moved))
        key = RevocationTimer(draft.group_id, member_id)
        if moved.state is MemberState.UNREVOKED_PARTITIONS:
            draft.start(key, moved.rebalance_timeout_ms)
        elif member.state is MemberState.UNREVOKED_PARTITIONS:
            draft.cancel(key)
    return moved


# --- what members are told ---


def _tell_stale(draft: StreamsDraft, member: StreamsMember) -> None:
    topology = draft.group.topology
    if topology is not None and member.topology_epoch < topology.epoch:
        draft.tell(
            StatusCode.STALE_TOPOLOGY,
            f"The member's topology epoch {member.topology_epoch} is behind the group's topology "
            f"epoch {topology.epoch}.",
        )


def _tell_group(draft: StreamsDraft, request: StreamsGroupHeartbeatRequest) -> None:
    assert draft.configured is not None
    problem = draft.configured.problem
    if problem is not None:
        draft.tell(problem.code, problem.detail)
    if request.shutdown_application and draft.shutdown_member_id is None:
        draft.shutdown_member_id = request.member_id
    if draft.shutdown_member_id is not None:
        draft.tell(
            StatusCode.SHUTDOWN_APPLICATION,
            f"Streams group member {draft.shutdown_member_id} encountered a fatal error and "
            "requested a shutdown for the entire application.",
        )


def _response(
    draft: StreamsDraft,
    request: StreamsGroupHeartbeatRequest,
    before: StreamsMember,
    after: StreamsMember,
    settings: StreamsSettings,
) -> StreamsGroupHeartbeatResponse:
    response = StreamsGroupHeartbeatResponse(
        member_id=after.member_id,
        member_epoch=after.epoch,
        heartbeat_interval_ms=_next_heartbeat_ms(draft, after, settings),
        status=draft.statuses,
    )
    if request.member_epoch == JOINING_EPOCH or before.owned != after.owned:
        tasks = after.owned.tasks
        response.active_tasks = _task_ids(tasks.active)
        response.standby_tasks = _task_ids(tasks.standby)
        response.warmup_tasks = _task_ids(tasks.warmup)
        draft.endpoint_epoch += after.endpoint is not None
    if draft.endpoint_epoch != request.endpoint_information_epoch:
        response.partitions_by_user_endpoint = partitions_by_endpoint(draft)
    response.endpoint_information_epoch = draft.endpoint_epoch
    return response


def _next_heartbeat_ms(
    draft: StreamsDraft, member: StreamsMember, settings: StreamsSettings
) -> int:
    """Who waits for something soon to come asks again soon, instead of a whole interval later."""
    group, longest_ms = draft.group, settings.heartbeat_interval_ms
    assert draft.configured is not None
    if group.assignment_epoch < group.epoch:
        due_ms = draft.delayed_until_ms
        if due_ms is None:
            due_ms = group.assignment_timestamp_ms + settings.assignment_interval_ms
        return max(_WAITING_INTERVAL_MS_MIN, min(due_ms - draft.now_ms, longest_ms))
    if draft.configured.missing or member.state is MemberState.UNRELEASED_PARTITIONS:
        return min(_WAITING_INTERVAL_MS, longest_ms)
    return longest_ms


def _task_ids(tasks: Tasks) -> list[ResponseTaskIds]:
    return [
        ResponseTaskIds(subtopology_id=name, partitions=sorted(tasks[name]))
        for name in sorted(tasks)
    ]
