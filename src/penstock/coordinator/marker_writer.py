"""Writes the end of a transaction into every partition that took part in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from penstock.coordinator.journal import acknowledged
from penstock.coordinator.topic import CONSUMER_OFFSETS
from penstock.group import GroupEntry, GroupShard
from penstock.machine.decision import Decision
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.network.later import future_of
from penstock.records.control import build_end_marker
from penstock.replication.partition_set import PartitionSet
from penstock.storage.append_check import Origin
from penstock.transaction.config import EPOCH_BUMP_SINCE

if TYPE_CHECKING:
    from penstock.coordinator.group_host import GroupHost


class Marker:
    __slots__ = (
        "committed",
        "coordinator_epoch",
        "producer_epoch",
        "producer_id",
        "transaction_version",
    )

    def __init__(
        self,
        producer_id: int,
        producer_epoch: int,
        committed: bool,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version


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

    async def write(
        self, marker: Marker, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        """All are appended first and then waited for together: one flush serves them."""
        begun = {key: self._begin(marker, key) for key in partitions}
        return {
            key: one if isinstance(one, ErrorCode) else await _code_of(one)
            for key, one in begun.items()
        }

    def _begin(self, marker: Marker, key: TopicPartition) -> ErrorCode | asyncio.Future[None]:
        """The outcome itself where nothing has to be waited for."""
        try:
            if key.topic == CONSUMER_OFFSETS:
                return self._end_offsets(marker, key.partition)
            return self._append(marker, key)
        except ApiError as error:
            return error.code
        except StorageError:
            return ErrorCode.KAFKA_STORAGE_ERROR

    def _end_offsets(self, marker: Marker, index: int) -> ErrorCode | asyncio.Future[None]:
        """The machine of the group writes it, so that its offsets count from then on."""
        self._partitions.by_name(CONSUMER_OFFSETS, index)

        def decide(shard: GroupShard) -> Decision[GroupEntry, None]:
            return shard.offsets.decide_end_txn(
                marker.producer_id, marker.producer_epoch, marker.committed
            )

        runtime = self._groups().loaded_at(index)
        if runtime is None:
            return asyncio.ensure_future(self._load_and_end_offsets(index, decide))
        answer = runtime.ask(decide)
        return ErrorCode.NONE if answer is None else future_of(answer)

    async def _load_and_end_offsets(
        self, index: int, decide: Callable[[GroupShard], Decision[GroupEntry, None]]
    ) -> None:
        runtime = await self._groups().wait_runtime_at(index)
        await runtime.submit(decide)

    def _append(self, marker: Marker, key: TopicPartition) -> ErrorCode | asyncio.Future[None]:
        partition = self._partitions.by_name(*key)
        if marker.transaction_version >= EPOCH_BUMP_SINCE:
            partition.log.producers.check_marker_raised(marker.producer_id, marker.producer_epoch)
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
        return acknowledged(partition, result.last_offset + 1)


async def _code_of(waiting: asyncio.Future[None]) -> ErrorCode:
    try:
        await waiting
    except ApiError as error:
        return error.code
    except StorageError:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NONE
