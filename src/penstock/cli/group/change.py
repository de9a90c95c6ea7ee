"""Changes of groups: offsets set and deleted, members told to leave, groups deleted.

A group with members takes offsets from them alone. Members who are told to leave join again by
themselves, some seconds later: what is to be changed is changed in between, or tried again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from penstock.cli.failure import Failure
from penstock.cli.group.reader import ClusterReader
from penstock.cli.group.refusal import HAS_MEMBERS, MembersAlive, check_all, members_alive
from penstock.cli.group.share_change import set_share_offsets
from penstock.cli.group.state import Group, Member, Place
from penstock.cli.operator.link import check
from penstock.model.error import ErrorCode
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from penstock.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from penstock.protocol.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from penstock.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

_COMMIT_VERSION: Final = 9
"""The last that calls topics by name."""
_LEAVE: Final = -1
"""The epoch of a member that leaves for good."""
_HEARTBEATS: Final[Mapping[str, tuple[type[Any], type[Any]]]] = {
    "consumer": (ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse),
    "streams": (StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse),
    "share": (ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse),
}
"""By the protocol of the group: what a member says, a last time, and what it hears."""
_TRIES: Final = 5


def set_offsets(
    reader: ClusterReader, name: str, offsets: Mapping[Place, int | None], *, stop_members: bool
) -> None:
    """All of them, in one request; None deletes one. MembersAlive where there are members."""
    for left in reversed(range(_TRIES)):
        coordinator = reader.coordinator_of(name)
        group = reader.find(name)
        if stop_members and group is not None:
            tell_to_leave(reader, group)
        try:
            if group is not None and group.is_share:
                set_share_offsets(reader, group, offsets)
            else:
                _commit(reader, coordinator, name, offsets)
                _delete(reader, coordinator, name, offsets)
            return
        except MembersAlive:
            if not stop_members or not left:
                raise


def tell_to_leave(reader: ClusterReader, group: Group) -> None:
    connection = reader.connection(group.coordinator)
    classic = [each for each in group.members if each.is_classic]
    if classic:
        request = LeaveGroupRequest(
            group_id=group.name, members=[_identity(each) for each in classic]
        )
        answer = connection.call(request, LeaveGroupResponse)
        check(answer.error_code, what=f"group {group.name}")
    beat, beaten = _HEARTBEATS.get(group.protocol, _HEARTBEATS["consumer"])
    for each in group.members:
        if not each.is_classic:
            instance = {} if group.is_share else {"instance_id": each.instance_id}
            leave = beat(
                group_id=group.name, member_id=each.member_id, member_epoch=_LEAVE, **instance
            )
            left = connection.call(leave, beaten)
            if left.error_code != ErrorCode.UNKNOWN_MEMBER_ID:
                check(left.error_code, left.error_message, f"member {each.member_id}")


def _identity(member: Member) -> MemberIdentity:
    return MemberIdentity(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        reason="offsets are reset by an operator",
    )


def _commit(
    reader: ClusterReader, coordinator: int, name: str, offsets: Mapping[Place, int | None]
) -> None:
    topics: dict[str, list[OffsetCommitRequestPartition]] = defaultdict(list)
    for (topic, partition), offset in offsets.items():
        if offset is not None:
            topics[topic].append(
                OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
            )
    if not topics:
        return
    request = OffsetCommitRequest(
        group_id=name,
        topics=[
            OffsetCommitRequestTopic(name=topic, partitions=parts)
            for topic, parts in topics.items()
        ],
    )
    connection = reader.connection(coordinator)
    answer = connection.call(request, OffsetCommitResponse, _COMMIT_VERSION)
    check_all(
        name,
        (
            (topic.name, each.partition_index, each.error_code)
            for topic in answer.topics
            for each in topic.partitions
        ),
    )


def _delete(
    reader: ClusterReader, coordinator: int, name: str, offsets: Mapping[Place, int | None]
) -> None:
    topics: dict[str, list[OffsetDeleteRequestPartition]] = defaultdict(list)
    for (topic, partition), offset in offsets.items():
        if offset is None:
            topics[topic].append(OffsetDeleteRequestPartition(partition_index=partition))
    if not topics:
        return
    request = OffsetDeleteRequest(
        group_id=name,
        topics=[
            OffsetDeleteRequestTopic(name=topic, partitions=parts)
            for topic, parts in topics.items()
        ],
    )
    answer = reader.connection(coordinator).call(request, OffsetDeleteResponse)
    if answer.error_code in HAS_MEMBERS:
        raise members_alive(name)
    check(answer.error_code, what=f"group {name}")
    check_all(
        name,
        (
            (topic.name, each.partition_index, each.error_code)
            for topic in answer.topics
            for each in topic.partitions
        ),
    )


def delete_group(reader: ClusterReader, group: Group) -> None:
    if group.members:
        raise Failure(
            f"group {group.name} has {len(group.members)} members and cannot be deleted; "
            "stop its consumers first"
        )
    request = DeleteGroupsRequest(groups_names=[group.name])
    (answer,) = reader.connection(group.coordinator).call(request, DeleteGroupsResponse).results
    check(answer.error_code, what=f"group {group.name}")
