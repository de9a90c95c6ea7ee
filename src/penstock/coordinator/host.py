"""Hosts the machines of a coordinator: one per partition of its topic that this node leads.

A machine is loaded when first needed; who asks meanwhile waits for that one load. It ends with its
partition: who waits for it is told to look for the coordinator anew, and a topic that is made again
begins with empty machines.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Container
from typing import Any, Generic, Protocol, TypeVar

from penstock.coordinator.journal import PartitionJournal
from penstock.coordinator.passed_over import PassedOver
from penstock.coordinator.topic import CoordinatorTopic, partition_of
from penstock.machine.state import StateMachine
from penstock.metadata.image import ClusterImage
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.runtime.driver import Runtime
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import BrokerMetrics

LOAD_TRIES = 3
"""A compaction may put another file in the place of one that is about to be read."""

MachineT = TypeVar("MachineT", bound=StateMachine[Any])
RecordT = TypeVar("RecordT")

log = get_logger("coordinator")


class TopicMaker(Protocol):
    """The controller, as far as a coordinator needs it."""

    async def create_internal_topic(self, topic: CoordinatorTopic) -> None: ...


class CoordinatorHost(ABC, Generic[MachineT, RecordT]):
    topic_name: str

    def __init__(
        self,
        image: ClusterImage,
        partitions: PartitionSet,
        controller: TopicMaker,
        metrics: BrokerMetrics,
    ) -> None:
        self._image = image
        self._metrics = metrics
        self._partitions = partitions
        self._controller = controller
        self._loaded: dict[int, Runtime[MachineT, RecordT]] = {}
        self._loading: dict[int, asyncio.Task[Runtime[MachineT, RecordT]]] = {}

    @abstractmethod
    def _topic(self) -> CoordinatorTopic:
        """How the topic is to be made when its first user comes."""

    @abstractmethod
    def _build(
        self, partition: Partition, doubtful: Container[bytes]
    ) -> tuple[Runtime[MachineT, RecordT], PartitionJournal[RecordT]]:
        """An empty machine over the partition's log, and the journal between the two."""

    @abstractmethod
    async def _begin(self, runtime: Runtime[MachineT, RecordT]) -> None:
        """What a machine has to do between its load and its first request."""

    def loaded_of(self, name: str) -> Runtime[MachineT, RecordT] | None:
        """The machine a name belongs to if it is there already: the way of every heartbeat."""
        topic = self._image.topics.get(self.topic_name)
        if topic is None:
            return None
        return self._loaded.get(partition_of(name, len(topic.partitions)))

    def loaded_at(self, index: int) -> Runtime[MachineT, RecordT] | None:
        """None as well where it has failed and must be loaded anew."""
        runtime = self._loaded.get(index)
        return runtime if runtime is not None and runtime.failure is None else None

    async def wait_partition_of(self, name: str) -> TopicPartition:
        """Where a name is kept; makes the topic if this is the first name ever."""
        topic = self._image.topics.get(self.topic_name)
        if topic is None:
            await self._controller.create_internal_topic(self._topic())
            topic = self._image.topics.get(self.topic_name)
        if topic is None:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return TopicPartition(self.topic_name, partition_of(name, len(topic.partitions)))

    async def wait_runtime(self, name: str) -> Runtime[MachineT, RecordT]:
        return await self._wait_index((await self.wait_partition_of(name)).partition)

    async def wait_runtime_at(self, index: int) -> Runtime[MachineT, RecordT]:
        return await self._wait_index(index)

    async def wait_all(self) -> list[Runtime[MachineT, RecordT]]:
        """Every machine of this node that can be loaded: for questions that name nobody."""
        found: list[Runtime[MachineT, RecordT]] = []
        for index in sorted(self._partitions.led_of_topic(self.topic_name)):
            try:
                found.append(await self._wait_index(index))
            except (ApiError, StorageError) as error:
                log.error(
                    "coordinator not loaded",
                    topic=self.topic_name,
                    partition=index,
                    reason=str(error),
                )
        return found

    async def close(self) -> None:
        for task in list(self._loading.values()):
            task.cancel()
        for runtime in self._loaded.values():
            await runtime.close()

    async def _wait_index(self, index: int) -> Runtime[MachineT, RecordT]:
        runtime = self.loaded_at(index)
        if runtime is not None:
            return runtime
        task = self._loading.get(index)
        if task is None:
            self._loaded.pop(index, None)
            task = self._loading[index] = asyncio.create_task(self._load(index))
            task.add_done_callback(lambda _: self._loading.pop(index, None))
        return await asyncio.shield(task)

    async def _load(self, index: int) -> Runtime[MachineT, RecordT]:
        partition = self._partitions.get(self.topic_name, index)
        if partition is None:
            # Its topic may be on its way: the image knows it before the log has it for good.
            known = self._image.topics.partition(self.topic_name, index) is not None
            raise ApiError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if known else ErrorCode.NOT_COORDINATOR
            )
        runtime = await self._read(partition)
        await self._begin(runtime)
        self._loaded[index] = runtime
        return runtime

    async def _read(self, partition: Partition) -> Runtime[MachineT, RecordT]:
        """A machine with all of the log in it that can be read."""
        doubtful: frozenset[bytes] = frozenset()
        for tries_left in reversed(range(LOAD_TRIES)):
            runtime, journal = self._build(partition, doubtful)
            _end_together(partition, runtime)
            if partition.log.end_offset == partition.log.log_start_offset:
                return runtime
            count = await self._read_into(runtime, journal, tries_left)
            self._check_led(partition)
            found = journal.passed.keys
            if count >= 0 and (found <= doubtful or not tries_left):
                break
            # Once more, so that what is readable of those keys is not lost with the rest.
            doubtful |= found
        log.info(
            "coordinator loaded", topic=partition.topic, partition=partition.index, records=count
        )
        self._report_passed_over(partition, journal.passed)
        return runtime

    async def _read_into(
        self,
        runtime: Runtime[MachineT, RecordT],
        journal: PartitionJournal[RecordT],
        tries_left: int,
    ) -> int:
        """The number of records; -1 if it has to be tried again."""
        try:
            return await asyncio.to_thread(runtime.load, journal.passed.replayed)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and tries_left:
                return -1
            log.error("coordinator cannot be loaded", topic=self.topic_name, error=str(error))
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error)) from error

    def _check_led(self, partition: Partition) -> None:
        if self._partitions.get(partition.topic, partition.index) is not partition:
            raise ApiError(ErrorCode.NOT_COORDINATOR)

    def _report_passed_over(self, partition: Partition, passed: PassedOver) -> None:
        for what, tally in (
            ("records that cannot be read", passed.records),
            ("records of unknown type", passed.unknown),
            ("damaged batches", passed.batches),
        ):
            if not tally.count:
                continue
            log.error(
                "coordinator loaded, but not all of its log",
                missing=what,
                topic=partition.topic,
                partition=partition.index,
                count=tally.count,
                first_offset=tally.first_offset,
                reason=tally.reason,
            )
            self._metrics.count_passed_over(partition.topic, what, tally.count)


def _end_together(partition: Partition, runtime: Runtime[Any, Any]) -> None:
    """Who waits for the machine of a partition that is gone looks for its coordinator anew. A
    disk that failed is told as such."""

    def end(error: Exception) -> None:
        runtime.fail(ApiError(ErrorCode.NOT_COORDINATOR) if isinstance(error, ApiError) else error)

    partition.on_unled = end
