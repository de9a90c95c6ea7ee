"""Which share partitions of a group have state, and which are to be given some.

A partition is read by members only when its state is there: whoever leads it asks for that first.
Pure functions on one group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set

from penstock.group.consumer.topic import TopicView
from penstock.group.share.group import ShareGroup
from penstock.group.share.record import SharedTopic, SharedTopics, StateTopics
from penstock.model.id import TopicId

Places = Iterable[tuple[TopicId, int]]


def uninitialized(group: ShareGroup, topics: TopicView) -> dict[TopicId, SharedTopic]:
    """Of the topics that members ask for, what has no state yet. What is being given some is among
    it: whoever was at it may have failed."""
    found: dict[TopicId, SharedTopic] = {}
    for name in sorted(group.subscribed):
        topic = topics.get(name)
        if topic is None or topic.topic_id in group.state_topics.deleting:
            continue
        has = group.state_topics.initialized.get(topic.topic_id)
        missing = frozenset(range(topic.partition_count)) - (has.partitions if has else frozenset())
        if missing:
            found[topic.topic_id] = SharedTopic(name, missing)
    return found


def readable(group: ShareGroup, topics: TopicView) -> dict[TopicId, Set[int]]:
    """Partitions that may be given to members, by topic."""
    found: dict[TopicId, Set[int]] = {}
    for name in sorted(group.subscribed):
        topic = topics.get(name)
        has = None if topic is None else group.state_topics.initialized.get(topic.topic_id)
        if topic is not None and has is not None:
            found[topic.topic_id] = {one for one in has.partitions if one < topic.partition_count}
    return found


def with_initializing(before: StateTopics, more: SharedTopics) -> StateTopics:
    return before._replace(initializing=_added(before.initializing, more))


def with_initialized(before: StateTopics, more: SharedTopics) -> StateTopics:
    return before._replace(
        initializing=_without(before.initializing, more),
        initialized=_added(before.initialized, more),
    )


def being_deleted(before: StateTopics, topics: TopicView) -> dict[TopicId, SharedTopic]:
    """All partitions of topics whose deletion was begun, and is not known to have succeeded: state
    that is left would be there before a later group of that name begins."""
    found: dict[TopicId, SharedTopic] = {}
    for topic_id, name in before.deleting.items():
        topic = topics.get(name)
        if topic is not None and topic.topic_id == topic_id:
            found[topic_id] = SharedTopic(name, frozenset(range(topic.partition_count)))
    return found


def with_deleting(before: StateTopics, topic_ids: Collection[TopicId]) -> StateTopics:
    names = {
        topic_id: one.name
        for one_of in (before.initializing, before.initialized)
        for topic_id, one in one_of.items()
        if topic_id in topic_ids
    }
    return StateTopics(
        _but(before.initializing, topic_ids),
        _but(before.initialized, topic_ids),
        {**before.deleting, **names},
    )


def without_topics(before: StateTopics, topic_ids: Collection[TopicId]) -> StateTopics:
    return StateTopics(
        _but(before.initializing, topic_ids),
        _but(before.initialized, topic_ids),
        {one: name for one, name in before.deleting.items() if one not in topic_ids},
    )


def places(topics: SharedTopics) -> list[tuple[TopicId, int]]:
    return [(topic_id, index) for topic_id, one in topics.items() for index in sorted(one[1])]


def all_places(topics: StateTopics) -> list[tuple[TopicId, int]]:
    return sorted({*places(topics.initializing), *places(topics.initialized)})


def _added(before: SharedTopics, more: SharedTopics) -> dict[TopicId, SharedTopic]:
    joined = dict(before)
    for topic_id, one in more.items():
        had = joined.get(topic_id)
        partitions = one.partitions if had is None else had.partitions | one.partitions
        joined[topic_id] = SharedTopic(one.name, partitions)
    return joined


def _without(before: SharedTopics, gone: SharedTopics) -> dict[TopicId, SharedTopic]:
    left: dict[TopicId, SharedTopic] = {}
    for topic_id, one in before.items():
        taken = gone[topic_id].partitions if topic_id in gone else frozenset()
        if one.partitions - taken:
            left[topic_id] = SharedTopic(one.name, one.partitions - taken)
    return left


def _but(
    before: Mapping[TopicId, SharedTopic], gone: Collection[TopicId]
) -> dict[TopicId, SharedTopic]:
    return {topic_id: one for topic_id, one in before.items() if topic_id not in gone}
