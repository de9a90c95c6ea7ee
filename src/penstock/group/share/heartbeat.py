"""A member of a share group joins, or says that it lives: it learns which partitions it reads.

Nobody has to give a partition up before another may have it, so a member is where it shall be as
soon as it is told.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.group.caller import Caller
from penstock.group.config import GroupConfig
from penstock.group.consumer.setting import ConsumerSettings
from penstock.group.consumer.topic import metadata_hash
from penstock.group.share.assignor import assign_simple
from penstock.group.share.draft import ShareDraft
from penstock.group.share.group import ShareGroup
from penstock.group.share.member import JOINING_EPOCH, LEAVING_EPOCH, Partitions, ShareMember
from penstock.group.share.record import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    state_record,
    target_epoch_record,
    target_record,
)
from penstock.group.share.state_topic import readable, uninitialized, with_initializing
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)

_WAITING_INTERVAL_MS = 200


def check_request(request: ShareGroupHeartbeatRequest) -> None:
    """What can be refused without looking at the group."""
    for name, value in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("RackId", request.rack_id),
    ):
        if value is not None and not value.strip():
            raise _invalid(f"{name} can't be empty.")
    if request.member_epoch < LEAVING_EPOCH:
        raise _invalid(f"MemberEpoch is invalid: {request.member_epoch}.")
    if request.member_epoch == JOINING_EPOCH and not request.subscribed_topic_names:
        raise _invalid("SubscribedTopicNames must be set in first request.")


def heartbeat(
    draft: ShareDraft,
    request: ShareGroupHeartbeatRequest,
    caller: Caller,
    settings: ConsumerSettings,
    config: GroupConfig,
) -> ShareGroupHeartbeatResponse:
    before = _find_or_make(draft.group, request, config)
    _introduce(draft, before, _updated(before, request, caller))
    _note_uninitialized(draft)
    _assign(draft, settings.assignment_interval_ms)
    after = _advance(draft, before.member_id)
    draft.start_session(after.member_id, settings.session_timeout_ms)
    response = ShareGroupHeartbeatResponse(
        member_id=after.member_id,
        member_epoch=after.epoch,
        heartbeat_interval_ms=_next_heartbeat_ms(draft, settings),
    )
    is_full = request.subscribed_topic_names is not None
    if request.member_epoch == JOINING_EPOCH or is_full or before.assigned != after.assigned:
        response.assignment = _told(after.assigned)
    return response


def remove_member(draft: ShareDraft, member: ShareMember) -> None:
    """What it read is given to others with their next heartbeats."""
    draft.write(*member_tombstones(draft.group_id, member.member_id))
    draft.end_session(member.member_id)
    found = metadata_hash(draft.topics, draft.group.subscribed)
    draft.write(epoch_record(draft.group_id, draft.group.epoch + 1, found))


def known_member(group: ShareGroup, member_id: str) -> ShareMember:
    member = group.members.get(member_id)
    if member is None:
        raise ApiError(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member {member_id} is not a member of group {group.group_id}.",
        )
    return member


def _find_or_make(
    group: ShareGroup, request: ShareGroupHeartbeatRequest, config: GroupConfig
) -> ShareMember:
    member_id, epoch = request.member_id, request.member_epoch
    if epoch == JOINING_EPOCH and member_id not in group.members:
        if len(group.members) >= config.group_share_max_size:
            raise ApiError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The group has {config.group_share_max_size} members already.",
            )
        return ShareMember(member_id)
    member = known_member(group, member_id)
    if epoch not in (JOINING_EPOCH, member.epoch, member.previous_epoch):
        raise ApiError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The member's epoch is {member.epoch}, not {epoch}: it must join again.",
        )
    return member


def _updated(
    member: ShareMember, request: ShareGroupHeartbeatRequest, caller: Caller
) -> ShareMember:
    """What a request leaves out stays as it was: in most heartbeats, everything."""
    names = request.subscribed_topic_names
    return replace(
        member,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        topics=member.topics if names is None else frozenset(names),
        client_id=caller.client_id,
        client_host=caller.client_host,
    )


def _introduce(draft: ShareDraft, before: ShareMember, after: ShareMember) -> None:
    """The group is in a new epoch if what its members ask for has changed, or else the topics."""
    is_new = after.member_id not in draft.group.members
    if is_new or not after.is_same_person(before):
        draft.write(member_record(draft.group_id, after))
    must_bump = is_new or after.topics != before.topics
    if must_bump or draft.group.must_check_topics:
        found = metadata_hash(draft.topics, draft.group.subscribed)
        draft.checked_topics = True
        if must_bump or found != draft.group.metadata_hash:
            draft.write(epoch_record(draft.group_id, draft.group.epoch + 1, found))


def _note_uninitialized(draft: ShareDraft) -> None:
    group = draft.group
    missing = uninitialized(group, draft.topics)
    noted = with_initializing(group.state_topics, missing)
    if noted != group.state_topics:
        draft.write(state_record(draft.group_id, noted))


def _assign(draft: ShareDraft, interval_ms: int) -> None:
    """Not more often than the interval: members that start together so share one assignment. While
    nobody has anything there is nothing to be gained by waiting."""
    group = draft.group
    if group.assignment_epoch >= group.epoch:
        return
    since_ms = group.assignment_timestamp_ms
    is_soon = since_ms and since_ms <= draft.now_ms < since_ms + interval_ms
    if is_soon and any(group.targets.values()):
        return
    subscriptions = {
        one.member_id: frozenset(
            topic.topic_id for name in one.topics if (topic := draft.topics.get(name)) is not None
        )
        for one in group.members.values()
    }
    targets = assign_simple(subscriptions, readable(group, draft.topics), group.targets)
    for member_id, target in targets.items():
        if target != group.targets.get(member_id):
            draft.write(target_record(draft.group_id, member_id, target))
    draft.write(target_epoch_record(draft.group_id, group.epoch, draft.now_ms))


def _advance(draft: ShareDraft, member_id: str) -> ShareMember:
    group = draft.group
    member = group.members[member_id]
    if member.epoch == group.assignment_epoch:
        return member
    moved = replace(
        member,
        epoch=group.assignment_epoch,
        previous_epoch=member.epoch,
        assigned=group.targets.get(member_id, {}),
    )
    draft.write(current_record(draft.group_id, moved))
    return moved


def _next_heartbeat_ms(draft: ShareDraft, settings: ConsumerSettings) -> int:
    """Who waits for something soon to come asks again soon, instead of a whole interval later."""
    group, longest_ms = draft.group, settings.heartbeat_interval_ms
    if group.assignment_epoch < group.epoch:
        due_ms = group.assignment_timestamp_ms + settings.assignment_interval_ms
        return max(_WAITING_INTERVAL_MS, min(due_ms - draft.now_ms, longest_ms))
    if group.state_topics.initializing:
        return min(_WAITING_INTERVAL_MS, longest_ms)
    return longest_ms


def _told(assigned: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=sorted(found))
            for topic_id, found in assigned.items()
        ]
    )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
