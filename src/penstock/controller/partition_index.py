"""Which partitions a broker concerns, so that what happens to it costs what it holds.

Owns the answers to a few questions about the image of a cluster, kept up to date change by change.
A cluster of one broker has nothing to look up by: there the image is read through when asked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.model.id import TopicId

PartitionKey = tuple[TopicId, int]


class PartitionIndex:
    """Answers are sorted: the same image gives the same records in the same order."""

    __slots__ = ("_eligible", "_in_sync", "_leaderless", "_leaders", "_moving", "_off_preferred")

    def __init__(self, image: ClusterImage) -> None:
        self._in_sync: defaultdict[int, set[PartitionKey]] = defaultdict(set)
        self._eligible: defaultdict[int, set[PartitionKey]] = defaultdict(set)
        self._leaders: Counter[int] = Counter()
        self._leaderless: set[PartitionKey] = set()
        self._off_preferred: set[PartitionKey] = set()
        self._moving: set[PartitionKey] = set()
        for topic in image.topics:
            for index, partition in topic.partitions.items():
                self._add((topic.id, index), partition)

    def update(
        self,
        topic_id: TopicId,
        index: int,
        before: PartitionImage | None,
        after: PartitionImage | None,
    ) -> None:
        key = (topic_id, index)
        if before is not None:
            self._drop(key, before)
        if after is not None:
            self._add(key, after)

    def in_sync(self, broker_id: int) -> list[PartitionKey]:
        return sorted(self._in_sync.get(broker_id, ()))

    def eligible(self, broker_id: int) -> list[PartitionKey]:
        return sorted(self._eligible.get(broker_id, ()))

    def leads_any(self, broker_id: int) -> bool:
        return self._leaders[broker_id] > 0

    def leaderless(self) -> list[PartitionKey]:
        return sorted(self._leaderless)

    def off_preferred(self) -> list[PartitionKey]:
        """Led, but not by the replica that is first in its list."""
        return sorted(self._off_preferred)

    def moving(self) -> list[PartitionKey]:
        """Being reassigned."""
        return sorted(self._moving)

    def _add(self, key: PartitionKey, partition: PartitionImage) -> None:
        for broker_id in partition.isr:
            self._in_sync[broker_id].add(key)
        for broker_id in partition.elr:
            self._eligible[broker_id].add(key)
        for kept in self._sets_of(partition):
            kept.add(key)
        if partition.leader != NO_LEADER:
            self._leaders[partition.leader] += 1

    def _drop(self, key: PartitionKey, partition: PartitionImage) -> None:
        for broker_id in partition.isr:
            self._in_sync[broker_id].discard(key)
        for broker_id in partition.elr:
            self._eligible[broker_id].discard(key)
        for kept in self._sets_of(partition):
            kept.discard(key)
        if partition.leader != NO_LEADER:
            self._leaders[partition.leader] -= 1

    def _sets_of(self, partition: PartitionImage) -> Iterable[set[PartitionKey]]:
        if partition.leader == NO_LEADER:
            yield self._leaderless
        elif partition.leader != partition.preferred_leader:
            yield self._off_preferred
        if partition.adding_replicas or partition.removing_replicas:
            yield self._moving


class IndexedImage:
    """Makes the index when it is first wanted in a cluster of several brokers, and keeps it."""

    __slots__ = ("_image", "_index")

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._index: PartitionIndex | None = None

    def index(self) -> PartitionIndex:
        if self._index is not None:
            return self._index
        index = PartitionIndex(self._image)
        if len(self._image.brokers) > 1:
            self._index = index
            self._image.partition_watcher = index.update
        return index
