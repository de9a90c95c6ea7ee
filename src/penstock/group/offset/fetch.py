"""OffsetFetch for one group: named partitions, or all it has."""

from __future__ import annotations

from penstock.group.offset.store import CommittedOffset, OffsetStore
from penstock.group.record import same_topic
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

NO_OFFSET = -1


def fetch(
    store: OffsetStore, request: OffsetFetchRequestGroup, require_stable: bool
) -> OffsetFetchResponseGroup:
    """A group that does not exist has no offsets, which is no error. With `require_stable` a
    partition whose next commit hangs on an open transaction is told so, and the client waits."""
    if request.topics is None:
        topics = _all_topics(store, request.group_id, require_stable)
    else:
        topics = [
            _topic(store, request.group_id, topic, require_stable) for topic in request.topics
        ]
    return OffsetFetchResponseGroup(group_id=request.group_id, topics=topics)


def fetch_refused(group_id: str, error: ErrorCode) -> OffsetFetchResponseGroup:
    return OffsetFetchResponseGroup(group_id=group_id, error_code=error)


def _topic(
    store: OffsetStore, group_id: str, topic: OffsetFetchRequestTopics, require_stable: bool
) -> OffsetFetchResponseTopics:
    offsets = store.of_group(group_id)
    partitions = []
    for index in topic.partition_indexes:
        partition = TopicPartition(topic.name, index)
        found = offsets.get(partition)
        if require_stable and store.is_pending(group_id, partition):
            partitions.append(_unstable(index))
        elif found is None or not same_topic(found.topic_id, topic.topic_id):
            partitions.append(_partition(index, None))
        else:
            partitions.append(_partition(index, found))
    return OffsetFetchResponseTopics(
        name=topic.name, topic_id=topic.topic_id, partitions=partitions
    )


def _all_topics(
    store: OffsetStore, group_id: str, require_stable: bool
) -> list[OffsetFetchResponseTopics]:
    topics: dict[str, OffsetFetchResponseTopics] = {}
    for partition, found in store.of_group(group_id).items():
        topic = topics.get(partition.topic)
        if topic is None:
            topic = OffsetFetchResponseTopics(name=partition.topic, topic_id=found.topic_id)
            topics[partition.topic] = topic
        if require_stable and store.is_pending(group_id, partition):
            topic.partitions.append(_unstable(partition.partition))
        else:
            topic.partitions.append(_partition(partition.partition, found))
    return list(topics.values())


def _partition(index: int, found: CommittedOffset | None) -> OffsetFetchResponsePartitions:
    if found is None:
        return OffsetFetchResponsePartitions(
            partition_index=index, committed_offset=NO_OFFSET, metadata=""
        )
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
    )


def _unstable(index: int) -> OffsetFetchResponsePartitions:
    response = _partition(index, None)
    response.error_code = ErrorCode.UNSTABLE_OFFSET_COMMIT
    return response
