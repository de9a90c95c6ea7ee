"""What a stretch of metadata records changed, for those who must act on it.

Owns the list of changes only: current values are read from the image it was made with.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.metadata.config import ConfigResource
from penstock.metadata.topic import TopicImage
from penstock.model.id import TopicId


@dataclass(slots=True)
class MetadataDelta:
    """Empty until a record is noted; see `ClusterImage.take_delta`."""

    topics_created: dict[TopicId, TopicImage] = field(default_factory=dict)
    topics_deleted: dict[TopicId, TopicImage] = field(default_factory=dict)
    """As they were: their partitions are what is to be removed."""
    partitions_created: dict[TopicId, set[int]] = field(default_factory=dict)
    partitions_changed: dict[TopicId, set[int]] = field(default_factory=dict)
    """Of partitions that were there before: new leader, replicas, ISR."""
    configs_changed: set[ConfigResource] = field(default_factory=set)
    brokers_changed: set[int] = field(default_factory=set)
    features_changed: bool = False
    quotas_changed: bool = False

    def __bool__(self) -> bool:
        return any(
            (
                self.features_changed,
                self.quotas_changed,
                self.topics_created,
                self.topics_deleted,
                self.partitions_created,
                self.partitions_changed,
                self.configs_changed,
                self.brokers_changed,
            )
        )

    def note_topic_created(self, topic: TopicImage) -> None:
        self.topics_created[topic.id] = topic

    def note_topic_deleted(self, topic: TopicImage) -> None:
        """A topic made and deleted within the stretch was never there for anybody."""
        self.partitions_created.pop(topic.id, None)
        self.partitions_changed.pop(topic.id, None)
        if self.topics_created.pop(topic.id, None) is None:
            self.topics_deleted[topic.id] = topic

    def note_partition(self, topic_id: TopicId, index: int, is_new: bool) -> None:
        if is_new:
            self.partitions_created.setdefault(topic_id, set()).add(index)
        elif index not in self.partitions_created.get(topic_id, ()):
            self.partitions_changed.setdefault(topic_id, set()).add(index)
