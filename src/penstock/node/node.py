"""One broker: everything it is made of, started in order and stopped in the reverse."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from socket import gethostname
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import UUID

from penstock.coordinator.addition_sender import AdditionSender
from penstock.coordinator.brokers import NoBrokers
from penstock.coordinator.marker_sender import MarkerSender
from penstock.coordinator.marker_writer import MarkerWriter
from penstock.coordinator.producer_id import ProducerIds
from penstock.coordinator.topic import CONSUMER_OFFSETS, TRANSACTION_STATE
from penstock.handlers.broker import Broker, Endpoint
from penstock.handlers.call import ClientState
from penstock.handlers.fetch_session import FetchSessions
from penstock.handlers.parked_produce import ParkedProduces
from penstock.handlers.router import Router
from penstock.metadata.config import ResourceType
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.model.error import PenstockError, StorageError
from penstock.model.id import ZERO_ID, TopicPartition
from penstock.network.listener import Limits, Listener
from penstock.node import descriptor
from penstock.node.address import EVERY_INTERFACE, Address
from penstock.node.gauge import gauges
from penstock.node.identity import Identity, establish
from penstock.node.metadata_plane import MetadataPlane
from penstock.node.metrics_server import MetricsServer
from penstock.node.partition_keeper import PartitionKeeper
from penstock.node.replica_link import ReplicaLink
from penstock.node.stopping import Stopping
from penstock.node.system import System
from penstock.node.upkeep import Upkeep
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.storage.config import LogConfig
from penstock.storage.disk import Disk, RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.flush.flusher import Flusher, Stopwatch
from penstock.storage.log_dir import LogDir
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import BrokerMetrics, Exporter

if TYPE_CHECKING:
    from penstock.coordinator.group_host import GroupHost
    from penstock.coordinator.transaction_host import TransactionHost

DRAIN_TIMEOUT_S = 5.0
STOP_TIMEOUT_S = 5.0
"""For each part after that: all that it waits for is on its way already."""
FLUSH_TIMEOUT_S = 30.0
"""A slow disk is no reason to recover everything at the next start."""
RECOVERY_REPORT_EVERY = 1000
GC_THRESHOLD = 50_000

log = get_logger("node")


@dataclass(frozen=True, slots=True)
class NodeOptions:
    listen: Address
    advertise: Address | None
    data_dir: str
    metrics: Address | None = None


class Node:
    """`new_id`, `disk` and `system` are given so that a run can be repeated exactly."""

    def __init__(
        self,
        config: BrokerConfig,
        options: NodeOptions,
        clock: Clock,
        *,
        new_id: Callable[[], bytes] = lambda: os.urandom(16),
        disk: Disk | None = None,
        system: System | None = None,
    ) -> None:
        self._system = system or System()
        self.options = options
        self.metrics = BrokerMetrics()
        self.listen_address = options.listen
        self.metrics_address: Address | None = None
        self.identity = Identity("", -1, ZERO_ID)
        self._config = config
        self._clock = clock
        self._new_id = new_id
        self._disk = disk or RealDisk()
        self._offline = asyncio.Event()
        self._image = ClusterImage()
        self._partitions = PartitionSet(self._image)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._descriptors = descriptor.plan(config.open_files_max, self._system.descriptors)
        self._mentioned: set[str] = set()
        self.log_dir = LogDir(
            options.data_dir,
            clock,
            self._log_config,
            disk=self._disk,
            cache=FileCache(self._disk, self._descriptors.files_max),
            new_pool=self._system.new_pool,
            new_uuid=self._new_uuid,
        )

    # Start

    async def start(self) -> None:
        # What a start builds stays: looking through it again and again, while it grows, would
        # take a large cluster as long as building it.
        if self._system.tunes_memory:
            gc.disable()
        self.log_dir.open()
        try:
            await self._start(asyncio.get_running_loop())
        except BaseException:
            self.log_dir.abandon()
            raise
        finally:
            if self._system.tunes_memory:
                gc.enable()

    async def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.set_exception_handler(self._on_unexpected)
        self.identity = establish(self.log_dir, self._config, self._new_id)
        self._listener = Listener(
            loop,
            self._limits(),
            ClientState,
            lambda _: None,
            self._system.sockets,
            self._clock.monotonic,
        )
        self.listen_address = Address(*self._listener.bind(*self.options.listen))
        advertised = self._advertised()
        self._config = self._config.with_static(self._settled(advertised))
        self._build_storage(loop)
        self._metadata.load()
        self._refresh_config()
        await self._recover()
        await self._metadata.join(advertised.host, advertised.port)
        self._keeper.adopt_image()
        self._build_broker(loop, advertised)
        await self._open_metrics()
        self._upkeep.start()
        self._router.warm_up()
        if self._system.tunes_memory:
            _settle_memory()
        self.log_dir.on_offline = self._on_offline
        self._listener.start(self._router.serve)
        self._load_coordinators()

    def _settled(self, advertised: Address) -> dict[str, str]:
        """Settings decided by the command line or the directory, told to clients like any other."""
        node_id = str(self.identity.node_id)
        return {
            "node.id": node_id,
            "broker.id": node_id,
            "listeners": f"PLAINTEXT://{self.listen_address}",
            "advertised.listeners": f"PLAINTEXT://{advertised}",
            "log.dirs": str(self.log_dir.path),
        }

    def _build_storage(self, loop: asyncio.AbstractEventLoop) -> None:
        self._flusher = Flusher(
            self._disk,
            loop.call_soon_threadsafe,
            lambda failed, error: self._keeper.on_flush_failed(failed, error),
            stopwatch=Stopwatch(self._clock.monotonic, self.metrics.flush_s.observe),
            run_later=self._system.flush_later,
        )
        self._flusher.start()
        self._replica_link = ReplicaLink(
            lambda: self.identity.node_id,
            self._clock,
            self._current_config,
            lambda: self._metadata.broker_epoch,
            _nobody,
            _nobody,
        )
        self._keeper = PartitionKeeper(
            self.identity.node_id,
            self._image,
            self._current_config,
            self.log_dir,
            self._flusher,
            self._partitions,
            self._clock,
            self._replica_link,
        )
        self._metadata = MetadataPlane(
            self._image,
            self.log_dir,
            self._clock,
            self.identity,
            self._current_config,
            self._new_id,
            self._on_delta,
        )
        self._upkeep = Upkeep(
            self._current_config,
            self._clock,
            self.log_dir,
            self._partitions,
            self._flusher,
            self._metadata,
            self._system.run_compaction,
        )

    def _build_broker(self, loop: asyncio.AbstractEventLoop, advertised: Address) -> None:
        brokers = NoBrokers()
        markers = MarkerWriter(self._clock, self._partitions, lambda: self._broker.groups)
        self._broker = Broker(
            node_id=self.identity.node_id,
            cluster_id=self.identity.cluster_id,
            config=self._config,
            clock=self._clock,
            loop=loop,
            image=self._image,
            partitions=self._partitions,
            controller=self._metadata.controller,
            build_groups=self._build_groups,
            build_transactions=self._build_transactions,
            markers=markers,
            marker_sender=MarkerSender(self.identity.node_id, self._image, markers, brokers),
            additions=AdditionSender(brokers),
            producer_ids=ProducerIds(self._allocate_producer_ids),
            fetch_sessions=FetchSessions(
                self._config.fetch_sessions_max,
                first_id=1 + int.from_bytes(self._new_id()[:4]) % 0x7FFFFFFD,
            ),
            metrics=self.metrics,
            log_dir=self.log_dir,
            parked=ParkedProduces(2 * self._config.request_memory_bytes),
            slow_reading=asyncio.Lock(),
            endpoint=Endpoint(advertised.host, advertised.port),
        )
        self._router = Router(self._broker, self._listener.turn)

    def _build_groups(self) -> GroupHost:
        from penstock.coordinator.group_host import GroupHost

        return GroupHost(
            self.identity.node_id,
            self._current_config,
            self._clock,
            self._image,
            self._partitions,
            self._metadata.controller,
            self.metrics,
            lambda: str(self._new_uuid()),
            self._listener.held,
        )

    def _build_transactions(self) -> TransactionHost:
        from penstock.coordinator.transaction_host import TransactionHost

        return TransactionHost(
            self.identity.node_id,
            self._current_config,
            self._clock,
            self._image,
            self._partitions,
            self._metadata.controller,
            self.metrics,
            self._broker.producer_ids,
            self._broker.marker_sender,
        )

    def _new_uuid(self) -> UUID:
        return UUID(bytes=self._new_id(), version=4)

    async def _recover(self) -> None:
        """After a crash, before anybody is let in: logs are cut to what is whole."""
        if self.log_dir.was_clean:
            return

        def report(done: int, total: int) -> None:
            if done == total or done % RECOVERY_REPORT_EVERY == 0:
                log.info("logs recovered", done=done, total=total)

        await asyncio.to_thread(self.log_dir.recover, report)

    async def _open_metrics(self) -> None:
        self._metrics_server = None
        if self.options.metrics is None:
            return
        told = gauges(self._listener, self._partitions, self.log_dir, self._upkeep.failures)
        exporter = Exporter(self.metrics, *told)
        self._metrics_server = MetricsServer(exporter.render)
        self.metrics_address = Address(*await self._metrics_server.open(*self.options.metrics))

    # Run

    def _on_delta(self, delta: MetadataDelta) -> None:
        if any(resource.type == ResourceType.BROKER for resource in delta.configs_changed):
            self._refresh_config()
        self._keeper.apply(delta)
        if hasattr(self, "_broker"):
            self._broker.tell_coordinators(delta)
        changed = delta.topics_created or delta.topics_deleted or delta.partitions_created
        if changed and CONSUMER_OFFSETS in self._image.topics:
            self._spawn(self._broker.groups.apply(delta))

    def _load_coordinators(self) -> None:
        """Timeouts run and transactions that were ending end, whether anybody asks or not."""
        if CONSUMER_OFFSETS in self._image.topics:
            self._broker.groups.load_led()
        if TRANSACTION_STATE in self._image.topics:
            self._broker.transactions.load_led()

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("background work failed", exc_info=task.exception())

    def _on_unexpected(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A callback or a task failed, and nobody was there to be told."""
        self.metrics.unexpected_errors += 1
        log.error(context.get("message", "unexpected error"), exc_info=context.get("exception"))

    def _on_offline(self, error: StorageError) -> None:
        self._keeper.take_offline(error)
        self._offline.set()

    async def wait_offline(self) -> None:
        """Returns when the disk has failed: a node without a log directory is of no use."""
        await self._offline.wait()

    def _refresh_config(self) -> None:
        configs = self._image.configs
        self._config = self._config.with_dynamic(
            configs.broker(self.identity.node_id), configs.broker(None)
        )
        self._mention_settings()
        if hasattr(self, "_broker"):
            self._broker.config = self._config
        self._keeper.refresh_all()

    def _mention_settings(self) -> None:
        """What was set and does nothing is said once, not at every change."""
        for names, event in (
            (self._config.unread, "settings accepted without effect"),
            (sorted(self._config.ignored), "changes of settings that cannot be followed"),
        ):
            new = [name for name in names if name not in self._mentioned]
            if new:
                self._mentioned.update(new)
                log.warning(event, settings=",".join(new))

    async def _allocate_producer_ids(self) -> range:
        return await self._metadata.controller.allocate_producer_ids(self._metadata.broker_epoch)

    # Stop

    async def stop(self) -> bool:
        """Answers what was asked, makes everything safe, and leaves nothing to recover. False if
        some part did not end: then all is as after a crash, and the process has to be ended."""
        self._listener.stop_accepting()
        await self._listener.drain(DRAIN_TIMEOUT_S)
        for task in list(self._tasks):
            task.cancel()
        stopping = Stopping()
        await stopping.end("upkeep", self._upkeep.stop(), STOP_TIMEOUT_S)
        if self._metrics_server is not None:
            await stopping.end("metrics", self._metrics_server.close(), STOP_TIMEOUT_S)
        await stopping.end("replicas", self._replica_link.close(), STOP_TIMEOUT_S)
        await stopping.end("coordinators", self._broker.close(), STOP_TIMEOUT_S)
        await stopping.end("metadata log", self._metadata.close(), STOP_TIMEOUT_S)
        await stopping.end("flusher", asyncio.to_thread(self._flusher.close), FLUSH_TIMEOUT_S)
        # The last completions come back to this loop; nothing may be closed before they have.
        await asyncio.sleep(0)
        if stopping.unended:
            self.log_dir.abandon()
            return False
        self.log_dir.close(broker_epoch=self._metadata.broker_epoch)
        return True

    # Settings

    def _current_config(self) -> BrokerConfig:
        return self._config

    def _log_config(self, partition: TopicPartition) -> LogConfig:
        return self._keeper.log_config(partition)

    def _limits(self) -> Limits:
        config = self._config
        return Limits(
            frame_bytes_max=config.request_bytes_max,
            total_frame_bytes_max=config.request_memory_bytes,
            connections_max=config.connections_max,
            idle_ms_max=config.idle_ms_max,
            descriptors_max=self._descriptors.connections_below,
        )

    def _advertised(self) -> Address:
        advertised = self.options.advertise
        if advertised is None:
            if self.listen_address.host not in EVERY_INTERFACE:
                return self.listen_address
            advertised = Address(gethostname(), 0)
            log.info(
                "listening on every interface; clients are told this host's name, "
                "--advertise tells them another",
                advertised=advertised.host,
            )
        return Address(advertised.host, advertised.port or self.listen_address.port)


def _settle_memory() -> None:
    """What is there now stays: keep the garbage collector from looking at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 50)


async def _nobody(*_: object) -> NoReturn:
    raise PenstockError("this node is a cluster of one")
