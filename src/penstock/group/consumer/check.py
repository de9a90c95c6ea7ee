"""What is wrong with a ConsumerGroupHeartbeat, before it changes anything. Raises ApiError."""

from __future__ import annotations

from collections.abc import Mapping, Set

from penstock.group.config import GroupConfig
from penstock.group.consumer.group import ConsumerGroup
from penstock.group.consumer.member import (
    JOINING_EPOCH,
    LEAVING_EPOCH,
    STATIC_LEAVING_EPOCH,
    ConsumerMember,
)
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

Reported = Mapping[TopicId, Set[int]] | None

_OWN_MEMBER_ID_SINCE = 1


def check_request(
    request: ConsumerGroupHeartbeatRequest, version: int, config: GroupConfig
) -> None:
    """What can be refused without looking at the group."""
    if not config.has_consumer_protocol:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, "The consumer protocol is switched off.")
    epoch = request.member_epoch
    if not request.member_id and (version >= _OWN_MEMBER_ID_SINCE or epoch != JOINING_EPOCH):
        raise _invalid("MemberId can't be empty.")
    for name, value in (
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        if value is not None and not value.strip():
            raise _invalid(f"{name} can't be empty.")
    if epoch == JOINING_EPOCH:
        _check_join(request)
    elif epoch == STATIC_LEAVING_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif epoch < STATIC_LEAVING_EPOCH:
        raise _invalid(f"MemberEpoch is invalid: {epoch}.")
    _check_assignor(request.server_assignor, config)


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in the first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise _invalid("TopicPartitions must be empty when joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid("SubscribedTopicNames or SubscribedTopicRegex must be set when joining.")


def _check_assignor(name: str | None, config: GroupConfig) -> None:
    known = config.group_consumer_assignors
    if name is not None and name not in known:
        raise ApiError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {name} is not supported. Supported are: {', '.join(known)}.",
        )


def check_size(group: ConsumerGroup, member_id: str, size_max: int) -> None:
    if member_id not in group.members and len(group.members) >= size_max:
        raise ApiError(
            ErrorCode.GROUP_MAX_SIZE_REACHED, f"The group has {size_max} members already."
        )


def known_member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    member = group.members.get(member_id)
    if member is None:
        raise unknown_member(group.group_id, member_id)
    return member


def known_static_member(group: ConsumerGroup, instance_id: str, member_id: str) -> ConsumerMember:
    member = group.static_member(instance_id)
    if member is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        raise ApiError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Instance id {instance_id} belongs to member {member.member_id} now.",
        )
    return member


def check_instance_released(member: ConsumerMember) -> None:
    """A static member leaves its place with epoch -2; until then nobody may take it."""
    if member.epoch != STATIC_LEAVING_EPOCH:
        raise ApiError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Instance id {member.instance_id} is in use by member {member.member_id}.",
        )


def check_epoch(member: ConsumerMember, epoch: int, reported: Reported) -> None:
    """The epoch before is taken too, from a member that may have missed one answer: it then has
    nothing that it does not have by that answer as well."""
    if epoch in (JOINING_EPOCH, member.epoch):
        return
    missed = epoch < member.epoch and epoch == member.previous_epoch
    if not missed or not _is_part(reported, member):
        raise ApiError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The member's epoch is {member.epoch}, not {epoch}: it must give up its partitions "
            "and join again.",
        )


def _is_part(reported: Reported, member: ConsumerMember) -> bool:
    if reported is None:
        return False
    return all(found <= member.owned.get(one, {}).keys() for one, found in reported.items())


def unknown_member(group_id: str, member_id: str) -> ApiError:
    return ApiError(
        ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}."
    )


def group_not_found(message: str) -> ApiError:
    return ApiError(ErrorCode.GROUP_ID_NOT_FOUND, message)


def reported_partitions(request: ConsumerGroupHeartbeatRequest) -> Reported:
    if request.topic_partitions is None:
        return None
    return {one.topic_id: frozenset(one.partitions) for one in request.topic_partitions}


def is_leaving(request: ConsumerGroupHeartbeatRequest) -> bool:
    return request.member_epoch in (LEAVING_EPOCH, STATIC_LEAVING_EPOCH)


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
