"""Writes the end of a transaction into those of its partitions that this node leads.

Where the coordinator is here as well, and the partition has no other replica, the end counts for
readers as soon as it is written: its producer has been answered. It is decided and kept, so that a
marker that a power failure takes is written again, and says the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from penstock.coordinator.journal import acknowledged
from penstock.coordinator.marker import Marker
from penstock.coordinator.topic import CONSUMER_OFFSETS
from penstock.machine.decision import Decision
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.network.later import future_of
from penstock.records.control import build_end_marker
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.storage.append_check import Origin
from penstock.transaction.config import EPOCH_BUMP_SINCE

if TYPE_CHECKING:
    from penstock.coordinator.group_host import GroupHost
    from penstock.group import GroupEntry, GroupShard

MarkerResult = dict[TopicPartition, ErrorCode]


class MarkerWriter:
    def __init__(
        self,
        clock: Clock,
        partitions: PartitionSet,
        groups: Callable[[], GroupHost],
    ) -> None:
        self._clock = clock
        self._partitions = partitions
        self._groups = groups

    async def write(self, marker: Marker, partitions: Iterable[TopicPartition]) -> MarkerResult:
        """Of a transaction that this node coordinates, whose end is committed."""
        (result,) = await self.write_all([(marker, partitions)], is_kept=True)
        return result

    async def write_all(
        self,
        markers: Sequence[tuple[Marker, Iterable[TopicPartition]]],
        *,
        is_kept: bool = False,
    ) -> list[MarkerResult]:
        """All are appended first and then waited for together: one flush serves them. Told when
        they are committed, and not before."""
        begun = [
            {key: self._begin(marker, key, is_kept) for key in partitions}
            for marker, partitions in markers
        ]
        return [
            {
                key: one if isinstance(one, ErrorCode) else await _code_of(one)
                for key, one in of_marker.items()
            }
            for of_marker in begun
        ]

    def _begin(
        self, marker: Marker, key: TopicPartition, is_kept: bool
    ) -> ErrorCode | asyncio.Future[None]:
        """The outcome itself where nothing has to be waited for."""
        try:
            partition = self._partitions.by_name(*key)
            if marker.transaction_version >= EPOCH_BUMP_SINCE:
                producers = partition.log.producers
                producers.check_marker_raised(marker.producer_id, marker.producer_epoch)
            if key.topic == CONSUMER_OFFSETS:
                return self._end_offsets(marker, key.partition)
            return self._append(marker, partition, is_kept)
        except ApiError as error:
            return error.code
        except StorageError:
            return ErrorCode.KAFKA_STORAGE_ERROR

    def _end_offsets(self, marker: Marker, index: int) -> ErrorCode | asyncio.Future[None]:
        """The machine of the group writes it, so that its offsets count from then on. Where that
        is not loaded yet the sender tries again: others' markers do not wait for the load."""
        groups = self._groups()
        runtime = groups.loaded_at(index)
        if runtime is None:
            groups.begin_load(index)
            return ErrorCode.NOT_LEADER_OR_FOLLOWER

        def decide(shard: GroupShard) -> Decision[GroupEntry, None]:
            return shard.offsets.decide_end_txn(
                marker.producer_id,
                marker.producer_epoch,
                marker.committed,
                marker.coordinator_epoch,
            )

        answer = runtime.ask(decide)
        return ErrorCode.NONE if answer is None else future_of(answer)

    def _append(
        self, marker: Marker, partition: Partition, is_kept: bool
    ) -> ErrorCode | asyncio.Future[None]:
        now_ms = self._clock.now_ms()
        batch = build_end_marker(
            producer_id=marker.producer_id,
            producer_epoch=marker.producer_epoch,
            commit=marker.committed,
            coordinator_epoch=marker.coordinator_epoch,
            timestamp=now_ms,
        )
        result = partition.append(memoryview(batch), now_ms, Origin.COORDINATOR)
        if partition.is_acknowledged(result.last_offset + 1):
            return ErrorCode.NONE
        if is_kept and partition.leader is None:
            partition.log.producers.release(result.last_offset)
        return acknowledged(partition, result.last_offset + 1)


async def _code_of(waiting: asyncio.Future[None]) -> ErrorCode:
    try:
        await waiting
    except ApiError as error:
        return error.code
    except StorageError:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NONE
