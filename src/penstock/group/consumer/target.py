"""The group's next epoch and its target assignment: what every member shall have in the end."""

from __future__ import annotations

from penstock.group.consumer.assignor import ASSIGNORS, Subject
from penstock.group.consumer.draft import Draft
from penstock.group.consumer.group import ConsumerGroup
from penstock.group.consumer.member import ConsumerMember
from penstock.group.consumer.record import (
    epoch_record,
    partition_metadata_tombstone,
    target_epoch_record,
    target_record,
)
from penstock.group.consumer.topic import TopicView, metadata_hash
from penstock.model.id import TopicId


def bump_epoch(draft: Draft, must_bump: bool) -> None:
    """A new epoch if the members changed, or else if their topics did."""
    group = draft.group
    found = metadata_hash(draft.topics, group.subscribed)
    if must_bump or found != group.metadata_hash:
        draft.write(epoch_record(group.group_id, group.epoch + 1, found))
    draft.checked_topics = True
    if group.has_partition_metadata:
        draft.write(partition_metadata_tombstone(group.group_id))


def update_target(draft: Draft, interval_ms: int) -> None:
    """Assigns anew if the group is in a new epoch, but not more often than the interval: members
    that start together so share one assignment instead of undoing each other's."""
    group = draft.group
    if group.assignment_epoch >= group.epoch or not _may_assign(draft, interval_ms):
        return
    name = group.preferred_assignor
    if name not in draft.config.group_consumer_assignors:
        name = draft.config.group_consumer_assignors[0]
    subjects = {one.member_id: _subject(draft, one) for one in group.members.values()}
    targets = ASSIGNORS[name](subjects, partition_counts(group, draft.topics))
    for member_id in subjects:
        target = targets.get(member_id, {})
        if target != group.targets.get(member_id):
            draft.write(target_record(group.group_id, member_id, target))
    draft.write(target_epoch_record(group.group_id, group.epoch, draft.now_ms))


def _may_assign(draft: Draft, interval_ms: int) -> bool:
    since_ms = draft.group.assignment_timestamp_ms
    return since_ms == 0 or draft.now_ms >= since_ms + interval_ms or draft.now_ms < since_ms


def _subject(draft: Draft, member: ConsumerMember) -> Subject:
    group = draft.group
    return Subject(
        topic_ids_of(group, member, draft.topics),
        group.targets.get(member.member_id, {}),
        member.instance_id,
    )


def topic_ids_of(
    group: ConsumerGroup, member: ConsumerMember, topics: TopicView
) -> frozenset[TopicId]:
    """Of the topics that exist."""
    found = (topics.get(name) for name in group.topics_of(member))
    return frozenset(one.topic_id for one in found if one is not None)


def partition_counts(group: ConsumerGroup, topics: TopicView) -> dict[TopicId, int]:
    found = (topics.get(name) for name in sorted(group.subscribed))
    return {one.topic_id: one.partition_count for one in found if one is not None}
