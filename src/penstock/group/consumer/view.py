"""How a consumer group looks to admins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.group.consumer.group import ConsumerGroup
from penstock.group.consumer.member import ConsumerMember
from penstock.group.consumer.topic import TopicView
from penstock.model.error import ErrorCode
from penstock.model.id import TopicId
from penstock.protocol.messages.consumer_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)

CONSUMER_TYPE = "consumer"

_CLASSIC_MEMBER = 0
_CONSUMER_MEMBER = 1


def described(group: ConsumerGroup, topics: TopicView, default_assignor: str) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.preferred_assignor or default_assignor,
        members=[_described_member(group, one, topics) for one in group.members.values()],
    )


def described_missing(group_id: str, is_other: bool) -> DescribedGroup:
    reason = "is not a consumer group" if is_other else "not found"
    return DescribedGroup(
        group_id=group_id,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=f"Group {group_id} {reason}.",
    )


def _described_member(group: ConsumerGroup, member: ConsumerMember, topics: TopicView) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex,
        assignment=_named(member.owned, topics),
        target_assignment=_named(group.targets.get(member.member_id, {}), topics),
        member_type=_CONSUMER_MEMBER if member.classic is None else _CLASSIC_MEMBER,
    )


def _named(partitions: Mapping[TopicId, Iterable[int]], topics: TopicView) -> Assignment:
    """Topics deleted meanwhile have no name, and nobody misses them."""
    named = ((topic_id, topics.name_of(topic_id), found) for topic_id, found in partitions.items())
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, topic_name=name, partitions=sorted(found))
            for topic_id, name, found in named
            if name is not None
        ]
    )
