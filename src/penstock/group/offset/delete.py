"""Tombstones for offsets that somebody asked to delete, or whose topics are gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from penstock.group.offset.store import OffsetStore
from penstock.group.record import GroupRecord, offset_tombstone, same_topic
from penstock.model.error import ErrorCode
from penstock.model.id import TopicId, TopicPartition
from penstock.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def delete(
    store: OffsetStore, request: OffsetDeleteRequest, is_subscribed: Callable[[str], bool]
) -> tuple[list[GroupRecord], OffsetDeleteResponse]:
    """Offsets of a topic that is being read are not taken from under the readers."""
    records: list[GroupRecord] = []
    topics = []
    for topic in request.topics:
        subscribed = is_subscribed(topic.name)
        code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if subscribed else ErrorCode.NONE
        partitions = []
        for one in topic.partitions:
            partition = TopicPartition(topic.name, one.partition_index)
            if not subscribed and _exists(store, request.group_id, partition):
                records.append(offset_tombstone(request.group_id, *partition))
            partitions.append(
                OffsetDeleteResponsePartition(partition_index=one.partition_index, error_code=code)
            )
        topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=partitions))
    return records, OffsetDeleteResponse(topics=topics)


def tombstones_of_group(store: OffsetStore, group_id: str) -> list[GroupRecord]:
    partitions = dict.fromkeys(store.of_group(group_id))
    partitions.update(dict.fromkeys(sorted(store.pending_of_group(group_id))))
    return [offset_tombstone(group_id, *one) for one in partitions]


def tombstones_of_topics(
    store: OffsetStore, topics: Mapping[str, TopicId]
) -> Iterator[GroupRecord]:
    """A topic of the same name made since is another one: its offsets stay."""
    for group_id in store.group_ids():
        for partition, one in store.of_group(group_id).items():
            topic_id = topics.get(partition.topic)
            if topic_id is not None and same_topic(one.topic_id, topic_id):
                yield offset_tombstone(group_id, *partition)
    for group_id in store.pending_group_ids():
        settled = store.of_group(group_id)
        for partition in sorted(store.pending_of_group(group_id)):
            if partition.topic in topics and partition not in settled:
                yield offset_tombstone(group_id, *partition)


def _exists(store: OffsetStore, group_id: str, partition: TopicPartition) -> bool:
    return partition in store.of_group(group_id) or store.is_pending(group_id, partition)
