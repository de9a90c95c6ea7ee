"""Where the logs end that groups read, and how old what they have not read yet is.

Here where this node has a replica in sync, else asked of the leader (`remote`). Times are those of
the records in the log. A batch that was found for one group serves all others near it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, NamedTuple

from penstock.metadata.image import ClusterImage
from penstock.model.error import ApiError, StorageError
from penstock.model.id import TopicPartition
from penstock.records.header import BatchHeader
from penstock.records.time_search import header_time, is_quick, time_at
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.storage.lookup import FoundBatch, batch_at

WITHIN_MS: Final = 1000
"""So exact are times in the middle of a batch, unless it spans more: then it is read."""
SLOW_READS_MAX: Final = 20
"""Compressed or large batches that one look reads; of the others the first record's time holds
until a later look."""
_BATCHES_KEPT: Final = 8

Batches = deque[tuple[int, BatchHeader]]
"""From which offset on it is the next, and its header."""


class Timed(NamedTuple):
    timestamp_ms: int | None
    is_exact: bool = True
    """Else it is to be asked for again."""


NO_TIME: Final = Timed(None)


class LocalEnds:
    """To be made anew for every look at all groups."""

    def __init__(self, node_id: int, image: ClusterImage, partitions: PartitionSet) -> None:
        self._node_id = node_id
        self._image = image
        self._partitions = partitions
        self._replicas: dict[TopicPartition, Partition | None] = {}
        self._batches: dict[TopicPartition, Batches] = {}
        self._slow_reads = 0

    def find(self, place: TopicPartition) -> Partition | None:
        """A replica whose high watermark can be gone by."""
        try:
            return self._replicas[place]
        except KeyError:
            found = self._replicas[place] = self._find(place)
            return found

    def _find(self, place: TopicPartition) -> Partition | None:
        partition = self._partitions.get(*place)
        if partition is None or partition.ended is not None:
            return None
        if not partition.is_led:
            known = self._image.topics.partition(*place)
            if known is None or self._node_id not in known.isr:
                return None
        try:
            _ = partition.log
        except (ApiError, StorageError):
            return None
        return partition

    async def time_of(self, partition: Partition, offset: int) -> Timed:
        """Of the first record that a group at this offset has not consumed."""
        kept = self._batches.setdefault(TopicPartition(partition.topic, partition.index), deque())
        for since, header in kept:
            if since <= offset <= header.last_offset:
                known = header_time(header, offset, WITHIN_MS)
                if known is not None:
                    return Timed(known)
        try:
            found = batch_at(partition.log, offset, partition.high_watermark)
            if found is None:
                return NO_TIME
            kept.appendleft((min(offset, found.header.base_offset), found.header))
            if len(kept) > _BATCHES_KEPT:
                kept.pop()
            known = header_time(found.header, offset, WITHIN_MS)
            return await self._read(found, offset) if known is None else Timed(known)
        except (ApiError, StorageError):
            return NO_TIME

    async def _read(self, found: FoundBatch, offset: int) -> Timed:
        if is_quick(found.header):
            return Timed(time_at(found.read(), offset))
        if self._slow_reads >= SLOW_READS_MAX:
            return Timed(found.header.base_timestamp, is_exact=False)
        self._slow_reads += 1
        return Timed(await asyncio.to_thread(time_at, found.read(), offset))
