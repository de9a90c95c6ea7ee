"""Whether a request comes from a member of the group, and of its present generation."""

from __future__ import annotations

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.state import GroupState
from penstock.model.error import ErrorCode


def member_error(group: ClassicGroup, member_id: str, instance_id: str | None) -> ErrorCode | None:
    """A static member's old incarnation is fenced, so that it stops instead of joining anew."""
    if instance_id is not None:
        current_id = group.static_ids.get(instance_id)
        if current_id is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if current_id != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return None if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID


def heartbeat_error(
    group: ClassicGroup, member_id: str, instance_id: str | None, generation: int
) -> ErrorCode | None:
    error = member_error(group, member_id, instance_id)
    if error is None and generation != group.generation:
        error = ErrorCode.ILLEGAL_GENERATION
    return error


def commit_error(
    group: ClassicGroup,
    member_id: str,
    instance_id: str | None,
    generation: int,
    transactional: bool,
) -> ErrorCode | None:
    """Without a generation the request is an admin's or a simple consumer's: fine while nobody
    is in the group. Transactional commits of old clients name no member either."""
    if generation < 0 and group.is_empty:
        return None
    if generation >= 0 or member_id or instance_id is not None:
        error = heartbeat_error(group, member_id, instance_id, generation)
        if error is not None:
            return error
    elif not transactional and not group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if not transactional and group.state is GroupState.COMPLETING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return None
