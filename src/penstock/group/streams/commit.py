"""Whether members of a streams group may commit and fetch offsets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.group.streams.group import StreamsGroup
from penstock.model.error import ErrorCode

if TYPE_CHECKING:
    from penstock.group.streams.member import StreamsMember

_EPOCHS_SINCE = 9


def commit_error(
    group: StreamsGroup,
    member_id: str,
    instance_id: str | None,
    epoch: int,
    partitions: Iterable[tuple[str, int]],
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
    if version is not None and version < _EPOCHS_SINCE:
        return ErrorCode.UNSUPPORTED_VERSION
    if epoch == member.epoch:
        return None
    if epoch < member.epoch and all(_had_since(group, member, epoch, *one) for one in partitions):
        return None
    return ErrorCode.STALE_MEMBER_EPOCH


def fetch_error(group: StreamsGroup, member_id: str | None, epoch: int) -> ErrorCode | None:
    """Admins and older clients name no member."""
    if member_id is None and epoch < 0:
        return None
    member = group.members.get(member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return None if epoch == member.epoch else ErrorCode.STALE_MEMBER_EPOCH


def _had_since(
    group: StreamsGroup, member: StreamsMember, epoch: int, topic: str, partition: int
) -> bool:
    """A commit may be overtaken by the answer that raised the epoch: it is good for tasks that
    the member has had since then or longer."""
    subtopology_id = group.sources.get(topic, "")
    for owned in (member.owned, member.revoking):
        since = owned.active.get(subtopology_id, {}).get(partition)
        if since is not None:
            return epoch >= since
    return False
