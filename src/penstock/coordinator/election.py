"""Which partitions of the coordinators' topics a stretch of metadata gives to a node to lead."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.coordinator.topic import COORDINATOR_TOPICS
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage


def elections(
    delta: MetadataDelta, image: ClusterImage, node_id: int
) -> Iterator[tuple[str, int, int]]:
    """(topic, partition, leader epoch) of what is led by the node and has changed. A partition
    that is new has nothing in it to be loaded: its coordinator begins with who asks first."""
    for name in COORDINATOR_TOPICS:
        topic = image.topics.get(name)
        if topic is None:
            continue
        created = delta.partitions_created.get(topic.id, set())
        for index in sorted(created | delta.partitions_changed.get(topic.id, set())):
            partition = topic.partitions[index]
            is_new = index in created and partition.leader_epoch == 0
            if partition.leader == node_id and not is_new:
                yield name, index, partition.leader_epoch
