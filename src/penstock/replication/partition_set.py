"""The partitions this node leads, by topic name and by topic id."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.model.error import ApiError, ErrorCode
from penstock.replication.partition import Partition


class PartitionSet:
    __slots__ = ("_by_id", "_by_name")

    def __init__(self) -> None:
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

    def remove_topic(self, topic: str) -> list[Partition]:
        partitions = self._by_name.pop(topic, {})
        for partition in partitions.values():
            self._by_id.pop(partition.topic_id, None)
        return list(partitions.values())

    def of_topic(self, topic: str) -> dict[int, Partition]:
        return self._by_name.get(topic, {})

    def get(self, topic: str, index: int) -> Partition | None:
        partitions = self._by_name.get(topic)
        return partitions.get(index) if partitions is not None else None

    def by_name(self, topic: str, index: int) -> Partition:
        try:
            return self._by_name[topic][index]
        except KeyError:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) from None

    def by_id(self, topic_id: bytes, index: int) -> Partition:
        partitions = self._by_id.get(topic_id)
        if partitions is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        try:
            return partitions[index]
        except KeyError:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) from None
