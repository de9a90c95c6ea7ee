"""Whether members of a consumer group may commit and fetch offsets."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.group.consumer.group import ConsumerGroup
from penstock.group.consumer.member import ConsumerMember
from penstock.model.error import ErrorCode
from penstock.model.id import TopicId

_EPOCHS_SINCE = 9


def commit_error(
    group: ConsumerGroup,
    member_id: str,
    instance_id: str | None,
    epoch: int,
    partitions: Iterable[tuple[TopicId, int]],
    version: int | None,
) -> ErrorCode | None:
    """`version` None is a transactional commit, which older clients send without a member."""
    if epoch < 0 and group.is_empty:
        return None
    if version is None and epoch == -1 and not member_id and instance_id is None:
        return None
    member = group.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if version is not None and version < _EPOCHS_SINCE and member.classic is None:
        return ErrorCode.UNSUPPORTED_VERSION
    if epoch == member.epoch:
        return None
    if epoch < member.epoch and all(_had_since(member, epoch, *one) for one in partitions):
        return None
    return _mismatch(member)


def fetch_error(group: ConsumerGroup, member_id: str | None, epoch: int) -> ErrorCode | None:
    """Admins and older clients name no member."""
    if member_id is None and epoch < 0:
        return None
    member = group.members.get(member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return None if epoch == member.epoch else _mismatch(member)


def _had_since(member: ConsumerMember, epoch: int, topic_id: TopicId, partition: int) -> bool:
    """A commit may be overtaken by the answer that raised the epoch (KIP-1251): it is good for
    partitions the member has had since then or longer."""
    for owned in (member.owned, member.revoking):
        since = owned.get(topic_id, {}).get(partition)
        if since is not None:
            return epoch >= since
    return False


def _mismatch(member: ConsumerMember) -> ErrorCode:
    if member.classic is not None:
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.STALE_MEMBER_EPOCH
