"""The partitions this node has a replica of, by topic name and by topic id.

Whoever writes or asks for offsets wants the leader: `by_name` and `by_id` find only what is led
here. A partition that is led elsewhere is not gone; the cluster's metadata knows the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.metadata.image import ClusterImage
from penstock.model.error import ApiError, ErrorCode
from penstock.replication.partition import Partition


class PartitionSet:
    __slots__ = ("_by_id", "_by_name", "_image")

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._by_name: dict[str, dict[int, Partition]] = {}
        self._by_id: dict[bytes, dict[int, Partition]] = {}

    def __iter__(self) -> Iterator[Partition]:
        for partitions in self._by_name.values():
            yield from partitions.values()

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def add(self, partition: Partition) -> None:
        partitions = self._by_name.setdefault(partition.topic, {})
        partitions[partition.index] = partition
        self._by_id[partition.topic_id] = partitions

    def remove(self, partition: Partition) -> None:
        partitions = self._by_name.get(partition.topic, {})
        if partitions.get(partition.index) is partition:
            del partitions[partition.index]
            if not partitions:
                del self._by_name[partition.topic]
                self._by_id.pop(partition.topic_id, None)

    def remove_topic(self, topic: str) -> list[Partition]:
        partitions = self._by_name.pop(topic, {})
        for partition in partitions.values():
            self._by_id.pop(partition.topic_id, None)
        return list(partitions.values())

    def of_topic(self, topic: str) -> dict[int, Partition]:
        """Every replica here, led or not."""
        return self._by_name.get(topic, {})

    def led_of_topic(self, topic: str) -> dict[int, Partition]:
        return {index: one for index, one in self.of_topic(topic).items() if one.is_led}

    def get(self, topic: str, index: int) -> Partition | None:
        """The replica here, led or not."""
        partitions = self._by_name.get(topic)
        return partitions.get(index) if partitions is not None else None

    def get_by_id(self, topic_id: bytes, index: int) -> Partition | None:
        partitions = self._by_id.get(topic_id)
        return partitions.get(index) if partitions is not None else None

    def by_name(self, topic: str, index: int) -> Partition:
        partitions = self._by_name.get(topic)
        partition = partitions.get(index) if partitions is not None else None
        if partition is None or not partition.is_led:
            raise self.refusal_by_name(topic, index)
        return partition

    def by_id(self, topic_id: bytes, index: int) -> Partition:
        partitions = self._by_id.get(topic_id)
        partition = partitions.get(index) if partitions is not None else None
        if partition is None or not partition.is_led:
            raise self.refusal_by_id(topic_id, index)
        return partition

    def refusal_by_name(self, topic: str, index: int) -> ApiError:
        """Why it is not served here: its disk failed, it is led elsewhere, it does not exist."""
        partition = self.get(topic, index)
        if partition is not None and partition.ended is not None:
            return ApiError(partition.ended.code, partition.ended.message)
        if self._image.topics.partition(topic, index) is None:
            return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def refusal_by_id(self, topic_id: bytes, index: int) -> ApiError:
        topic = self._image.topics.get_by_id(topic_id)
        if topic is None:
            return ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        return self.refusal_by_name(topic.name, index)
