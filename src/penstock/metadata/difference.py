"""What has to be done to get from one image to another, where no records lead from it to there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.metadata.delta import MetadataDelta
from penstock.metadata.topic import TopicImage

if TYPE_CHECKING:
    from penstock.metadata.image import ClusterImage


def note_difference(delta: MetadataDelta, before: ClusterImage, after: ClusterImage) -> None:
    for topic_id, topic in before.topics.by_id.items():
        if topic_id not in after.topics.by_id:
            delta.note_topic_deleted(topic)
    for topic_id, topic in after.topics.by_id.items():
        earlier = before.topics.get_by_id(topic_id)
        if earlier is None:
            delta.note_topic_created(topic)
        _note_partitions(delta, earlier, topic)
    earlier_configs, later_configs = dict(before.configs), dict(after.configs)
    for resource in earlier_configs.keys() | later_configs.keys():
        if earlier_configs.get(resource) != later_configs.get(resource):
            delta.configs_changed.add(resource)
    for broker_id in before.brokers.keys() | after.brokers.keys():
        if before.brokers.get(broker_id) != after.brokers.get(broker_id):
            delta.brokers_changed.add(broker_id)
    delta.features_changed |= before.features != after.features
    delta.quotas_changed |= before.security.quotas != after.security.quotas


def _note_partitions(delta: MetadataDelta, before: TopicImage | None, after: TopicImage) -> None:
    """A topic never has fewer partitions than it had."""
    known = {} if before is None else before.partitions
    for index, partition in after.partitions.items():
        if known.get(index) != partition:
            delta.note_partition(after.id, index, is_new=index not in known)
