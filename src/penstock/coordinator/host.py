"""Hosts the machines of a coordinator: one per partition of its topic that this node leads.

A machine is loaded when this node is elected, in the background, or when somebody asks for it
first, and ends with the leadership. Who asks during a load waits for it, but not for long: most
loads are over sooner than a client would ask again. A machine counts as loaded when all that it has
read is committed: before that it could tell of what its successor would not know.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Container
from typing import Any, Generic, Protocol, TypeVar

from penstock.coordinator.journal import PartitionJournal
from penstock.coordinator.leadership import Leadership
from penstock.coordinator.log_load import LogLoad
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

LOAD_WAIT_S = 2.0
"""Who asks during a longer load is told to ask again."""

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
        node_id: int,
        image: ClusterImage,
        partitions: PartitionSet,
        controller: TopicMaker,
        metrics: BrokerMetrics,
        commit_limit_s: float,
    ) -> None:
        """`commit_limit_s`: for how long a client's request waits until what it has changed is
        committed."""
        self.commit_limit_s = commit_limit_s
        self._node_id = node_id
        self._image = image
        self._log_load = LogLoad(self._build, metrics)
        self._partitions = partitions
        self._controller = controller
        self._loaded: dict[int, Runtime[MachineT, RecordT]] = {}
        self._led: dict[int, Leadership[MachineT, RecordT]] = {}
        self._loads: dict[asyncio.Task[None], None] = {}
        self._elected: deque[int] = deque()
        self._loader: asyncio.Task[None] | None = None

    @abstractmethod
    def _topic(self) -> CoordinatorTopic:
        """How the topic is to be made when its first user comes."""

    @abstractmethod
    def _build(
        self, partition: Partition, doubtful: Container[bytes]
    ) -> tuple[Runtime[MachineT, RecordT], PartitionJournal[RecordT]]:
        """An empty machine over the partition's log, and the journal between the two."""

    @abstractmethod
    async def _begin(self, led: Leadership[MachineT, RecordT]) -> None:
        """What a machine has to do between its load and its first request."""

    def _raised(self, led: Leadership[MachineT, RecordT]) -> None:
        """The leader epoch was raised and the machine kept."""

    def _ended(self, led: Leadership[MachineT, RecordT]) -> None:
        """The machine has ended, and what was done on its behalf has to."""

    # Where a name is kept

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

    def coordinator_of(self, name: str) -> int | None:
        """The node that coordinates a name, NO_LEADER if there is none just now, None while there
        is no topic."""
        topic = self._image.topics.get(self.topic_name)
        if topic is None:
            return None
        return topic.partitions[partition_of(name, len(topic.partitions))].leader

    async def wait_partition_of(self, name: str) -> TopicPartition:
        """Where a name is kept; makes the topic if this is the first name ever."""
        topic = self._image.topics.get(self.topic_name)
        if topic is None:
            await self._controller.create_internal_topic(self._topic())
            topic = self._image.topics.get(self.topic_name)
        if topic is None or not topic.partitions:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return TopicPartition(self.topic_name, partition_of(name, len(topic.partitions)))

    # Its machine

    async def wait_runtime(self, name: str) -> Runtime[MachineT, RecordT]:
        """NOT_COORDINATOR where another node leads, COORDINATOR_LOAD_IN_PROGRESS if the load takes
        long."""
        return await self._wait_index((await self.wait_partition_of(name)).partition)

    async def wait_all(self) -> list[Runtime[MachineT, RecordT]]:
        """Every machine of this node that can be loaded: for questions that name nobody."""
        found: list[Runtime[MachineT, RecordT]] = []
        for index in sorted(self._partitions.led_of_topic(self.topic_name)):
            try:
                found.append(await self._wait_index(index))
            except (ApiError, StorageError) as error:
                if _code_of(error) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                    raise
                self._log_unloaded(index, error)
        return found

    def begin_load(self, index: int) -> None:
        """Unless it is loaded or being loaded; ApiError where another node leads."""
        if self.loaded_at(index) is None:
            self._loading(index)

    async def _wait_index(self, index: int) -> Runtime[MachineT, RecordT]:
        runtime = self.loaded_at(index)
        if runtime is not None:
            return runtime
        ready = self._loading(index).ready
        try:
            async with asyncio.timeout(LOAD_WAIT_S):
                return await asyncio.shield(ready)
        except TimeoutError:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS) from None

    async def _wait_loaded(self, index: int) -> Runtime[MachineT, RecordT]:
        """However long it takes."""
        runtime = self.loaded_at(index)
        if runtime is not None:
            return runtime
        return await asyncio.shield(self._loading(index).ready)

    # Elections

    def on_led(self, index: int, leader_epoch: int) -> None:
        """This node is the elected leader, and the partition knows of it. A machine that is there
        already stays, and writes in the new epoch."""
        led = self._led.get(index)
        if led is not None and (led.is_loading or self.loaded_at(index) is not None):
            if led.take_epoch(leader_epoch):
                self._raised(led)
            return
        self._elected.append(index)
        if self._loader is None:
            self._loader = asyncio.create_task(self._load_elected(), name="coordinator-load")

    def load_led(self) -> None:
        """At start: timeouts run and transactions that were ending end, whether anybody asks or
        not."""
        for index, partition in sorted(self._partitions.led_of_topic(self.topic_name).items()):
            self.on_led(index, partition.leader_epoch)

    async def _load_elected(self) -> None:
        """One after the other: a node that is elected for many partitions at once has its memory
        and its disk for others too. One that waits for its replicas holds up nobody."""
        while self._elected:
            index = self._elected.popleft()
            try:
                await self._wait_index(index)
            except (ApiError, StorageError) as error:
                self._log_unloaded(index, error)
        self._loader = None

    def _log_unloaded(self, index: int, error: ApiError | StorageError) -> None:
        if _code_of(error) not in _PASSING:
            log.error(
                "coordinator not loaded", topic=self.topic_name, partition=index, reason=str(error)
            )

    async def close(self) -> None:
        for task in [*self._loads, *([self._loader] if self._loader else [])]:
            task.cancel()
        for runtime in list(self._loaded.values()):
            await runtime.close()

    # Loading

    def _loading(self, index: int) -> Leadership[MachineT, RecordT]:
        """The load that is under way, or another."""
        led = self._led.get(index)
        if led is not None and led.is_loading:
            return led
        led = self._led[index] = Leadership(self._led_partition(index))
        self._loaded.pop(index, None)
        led.partition.on_unled = lambda error: self._end(index, led, error)
        task = asyncio.create_task(self._load(index, led))
        self._loads[task] = None
        task.add_done_callback(lambda done: self._loads.pop(done, None))
        return led

    def _led_partition(self, index: int) -> Partition:
        partition = self._partitions.get(self.topic_name, index)
        if partition is not None and partition.is_led:
            return partition
        image = self._image.topics.partition(self.topic_name, index)
        if partition is None and image is not None and image.leader == self._node_id:
            # It is on its way: the image knew it first.
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        raise ApiError(ErrorCode.NOT_COORDINATOR)

    def _end(self, index: int, led: Leadership[MachineT, RecordT], error: Exception) -> None:
        if self._led.get(index) is led:
            del self._led[index]
            self._loaded.pop(index, None)
        led.end(error)
        self._ended(led)

    async def _load(self, index: int, led: Leadership[MachineT, RecordT]) -> None:
        try:
            runtime, journal = await self._log_load.read(led)
            await journal.wait_committed(journal.end_offset)
            await self._begin(led)
        except asyncio.CancelledError:
            led.fail(ApiError(ErrorCode.NOT_COORDINATOR))
            raise
        except Exception as error:
            # Nothing of it is kept; a leadership that is over has told everybody already.
            led.fail(error)
            return
        if not led.is_over:
            self._loaded[index] = runtime
            led.succeed()


_PASSING = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS})


def _code_of(error: ApiError | StorageError) -> ErrorCode | None:
    return error.code if isinstance(error, ApiError) else None
