"""What the log keeps of a classic group, and a group made from it.

A load knows only the protocol that was chosen, not all that each member offered: members that
rejoin with their full list after a restart so cause a rebalance, as in Kafka.
"""

from __future__ import annotations

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.member import Member
from penstock.group.classic.state import GroupState
from penstock.protocol.messages.records.group_metadata import GroupMetadataValue, MemberMetadata


def stored_value(group: ClassicGroup) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=group.state_timestamp_ms,
        members=[_stored_member(one, group.protocol_name) for one in group.members.values()],
    )


def new_group_value(now_ms: int) -> GroupMetadataValue:
    """The first record of a group: it exists, nobody has joined yet."""
    return GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=now_ms)


def group_of(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    group = ClassicGroup(
        group_id=group_id,
        state=GroupState.STABLE if value.members else GroupState.EMPTY,
        state_timestamp_ms=value.current_state_timestamp,
        generation=value.generation,
        protocol_type=value.protocol_type or None,
        protocol_name=value.protocol,
        leader_id=value.leader,
    )
    for one in value.members:
        group.add(_member_of(one, value.protocol or ""), value.protocol_type)
    group.refresh_subscription()
    return group


def _stored_member(member: Member, protocol_name: str | None) -> MemberMetadata:
    return MemberMetadata(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.session_timeout_ms,
        subscription=member.metadata(protocol_name),
        assignment=member.assignment,
    )


def _member_of(stored: MemberMetadata, protocol_name: str) -> Member:
    unset = stored.rebalance_timeout == -1
    return Member(
        member_id=stored.member_id,
        instance_id=stored.group_instance_id,
        client_id=stored.client_id,
        client_host=stored.client_host,
        rebalance_timeout_ms=stored.session_timeout if unset else stored.rebalance_timeout,
        session_timeout_ms=stored.session_timeout,
        protocols=((protocol_name, bytes(stored.subscription)),),
        assignment=bytes(stored.assignment),
    )
