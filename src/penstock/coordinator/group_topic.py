"""The cluster's topics as consumer groups see them."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.group import Topic
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.model.id import TopicId


class ImageTopics:
    __slots__ = ("_image",)

    def __init__(self, image: ClusterImage) -> None:
        self._image = image

    @property
    def version(self) -> int:
        return self._image.next_offset

    def get(self, name: str) -> Topic | None:
        topic = self._image.topics.get(name)
        return None if topic is None else Topic(topic.id, len(topic.partitions))

    def name_of(self, topic_id: TopicId) -> str | None:
        topic = self._image.topics.get_by_id(topic_id)
        return None if topic is None else topic.name

    def names(self) -> Iterable[str]:
        return self._image.topics.by_name.keys()


def changed_topics(delta: MetadataDelta, image: ClusterImage) -> set[str]:
    """Names of topics that were created or deleted, or got partitions."""
    names = {topic.name for topic in delta.topics_created.values()}
    names.update(topic.name for topic in delta.topics_deleted.values())
    grown = (image.topics.get_by_id(topic_id) for topic_id in delta.partitions_created)
    names.update(topic.name for topic in grown if topic is not None)
    return names
