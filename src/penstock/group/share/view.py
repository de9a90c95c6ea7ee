"""How a share group looks to admins."""

from __future__ import annotations

from penstock.group.consumer.topic import TopicView
from penstock.group.share.group import ShareGroup
from penstock.group.share.member import ShareMember
from penstock.model.error import ErrorCode
from penstock.protocol.messages.list_groups import ListedGroup
from penstock.protocol.messages.share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)

SHARE_TYPE = "share"
ASSIGNOR = "simple"


def listed(group: ShareGroup) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=SHARE_TYPE,
        group_state=group.state.value,
        group_type=SHARE_TYPE,
    )


def described(group: ShareGroup, topics: TopicView) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=ASSIGNOR,
        members=[_described_member(one, topics) for one in group.members.values()],
    )


def described_missing(group_id: str, is_other: bool) -> DescribedGroup:
    reason = "is not a share group" if is_other else "not found"
    return DescribedGroup(
        group_id=group_id,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=f"Group {group_id} {reason}.",
    )


def _described_member(member: ShareMember, topics: TopicView) -> Member:
    named = ((one, topics.name_of(one), found) for one, found in member.assigned.items())
    return Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        assignment=Assignment(
            topic_partitions=[
                TopicPartitions(topic_id=topic_id, topic_name=name, partitions=sorted(found))
                for topic_id, name, found in named
                if name is not None
            ]
        ),
    )
