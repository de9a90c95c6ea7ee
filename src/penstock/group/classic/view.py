"""How a classic group looks to admins."""

from __future__ import annotations

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.member import Member
from penstock.group.classic.state import GroupState
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember
from penstock.protocol.messages.list_groups import ListedGroup

CLASSIC_TYPE = "classic"

_NOT_FOUND_ERROR_SINCE = 6


def described(group: ClassicGroup) -> DescribedGroup:
    """Subscriptions are told only of a stable group: before, none has been chosen."""
    stable = group.state is GroupState.STABLE
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if stable else "",
        members=[
            _described_member(one, one.metadata(group.protocol_name) if stable else b"")
            for one in group.members.values()
        ],
    )


def described_missing(group_id: str, version: int, reason: str = "not found") -> DescribedGroup:
    """Older clients take a Dead group for an answer; since version 6 it is an error."""
    response = DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
    if version >= _NOT_FOUND_ERROR_SINCE:
        response.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        response.error_message = f"Group {group_id} {reason}."
    return response


def listed(group: ClassicGroup) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type or "",
        group_state=group.state.value,
        group_type=CLASSIC_TYPE,
    )


def _described_member(member: Member, metadata: bytes) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=metadata,
        member_assignment=member.assignment,
    )
