"""One broker: everything it is made of, started in order and stopped in the reverse."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.coordinator.producer_id import ProducerIds
from penstock.coordinator.topic import CONSUMER_OFFSETS, SHARE_STATE
from penstock.handlers.broker import Broker
from penstock.handlers.call import ClientState
from penstock.handlers.fetch_sessions import FetchSessions
from penstock.handlers.parked_produce import ParkedProduces
from penstock.handlers.router import Router
from penstock.handlers.table import BROKER_MODULES, CONTROLLER_MODULES
from penstock.metadata.broker import Endpoint
from penstock.metadata.config import ResourceType
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.model.error import StorageError
from penstock.model.id import ZERO_ID, uuid_to_str
from penstock.node import descriptor
from penstock.node.address import Address
from penstock.node.audit import Audit, new_trail
from penstock.node.background import Background
from penstock.node.broker_watch import BrokerWatch
from penstock.node.coordinator_hosts import CoordinatorHosts
from penstock.node.data_directories import new_flusher, new_log_dirs
from penstock.node.directory_failure import DirectoryFailures
from penstock.node.history.history import History
from penstock.node.identity import Identity
from penstock.node.joining import Joining
from penstock.node.listener_security import ListenerSecurity
from penstock.node.listeners import Listeners
from penstock.node.log_recovery import recover
from penstock.node.memory import settle_memory
from penstock.node.metadata_plane import MetadataPlane
from penstock.node.no_links import NoLinks, new_links
from penstock.node.node_settings import NodeSettings, settled
from penstock.node.options import NodeOptions
from penstock.node.ownership import read_ownership
from penstock.node.partition_keeper import PartitionKeeper
from penstock.node.quorum_setup import quorum_config
from penstock.node.replica_link import ReplicaLink
from penstock.node.stopping import DRAIN_TIMEOUT_S, FLUSH_TIMEOUT_S, STOP_TIMEOUT_S, Stopping
from penstock.node.system import System
from penstock.node.throttle import new_throttle, quota_windows
from penstock.node.upkeep import Upkeep
from penstock.protocol.entity import Entity
from penstock.protocol.messages.envelope import EnvelopeRequest
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.storage.disk import Disk, RealDisk
from penstock.storage.flush.flusher import Flusher, Stopwatch
from penstock.storage.flush.loop_sync import LoopSync, new_loop_sync
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import BrokerMetrics

if TYPE_CHECKING:
    from penstock.handlers.share.side import ShareSide
    from penstock.node.logins import Logins
    from penstock.node.membership import Membership
    from penstock.node.metrics_server import MetricsServer

log = get_logger("node")


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
        self._settings = NodeSettings(config)
        self._security = ListenerSecurity(self._settings)
        self._clock = clock
        self._new_id = new_id
        self._disk = disk or RealDisk()
        self._image = ClusterImage()
        self._partitions = PartitionSet(self._image)
        self._throttle = new_throttle(config, clock)
        self._background = Background()
        self._descriptors = descriptor.plan(config.open_files_max, self._system.descriptors)
        self._membership: Membership | None = None
        self.log_dirs = new_log_dirs(
            options,
            clock,
            lambda partition: self._keeper.log_config(partition),
            self._disk,
            self._descriptors.files_max,
            self._system.new_pool,
            self._new_id,
        )

    # Start

    async def start(self) -> None:
        # What a start builds stays: searching it as it grows would take as long as building it.
        if self._system.tunes_memory:
            gc.disable()
        if self.options.cluster is not None:
            from penstock.node.founding import found

            found(self.options.cluster, self._disk, self._clock.now_ms, self._new_id)
        owned = read_ownership(
            self._disk,
            self.log_dirs,
            self._settings(),
            self._new_id,
            may_found=self.options.cluster is None,
        )
        self.identity = owned.identity
        self.log_dirs.open()
        try:
            owned.write(self._disk)
            await self._start(asyncio.get_running_loop())
        except BaseException:
            self.log_dirs.abandon()
            raise
        finally:
            if self._system.tunes_memory:
                gc.enable()

    async def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.set_exception_handler(self._on_unexpected)
        cluster = self.options.cluster
        self._bind(loop)
        alone = self._listeners if cluster is None else ()
        self._settings.settle(settled(self.identity.node_id, self.log_dirs, alone))
        self._build_storage(loop)
        self._build_broker(loop)
        await self._metadata.start()
        self._listeners.start(self.options.controller_listeners, self._controller_router.serve)
        if cluster is not None and cluster.is_controller:
            self._background.spawn(self._joining.register_controller(self._controller_endpoints()))
        if cluster is None or cluster.is_broker:
            await self._start_broker(cluster is None)
        else:
            self._metadata.go_live()
        await self._open_metrics()
        self._upkeep.start()
        if self._system.tunes_memory:
            settle_memory()
        self._failures.watch()

    def _bind(self, loop: asyncio.AbstractEventLoop) -> None:
        self._listeners = Listeners(
            loop,
            self._settings.limits(self._descriptors.connections_below),
            self.options.listener_roles,
            quota_windows(self._settings()),
            self._system.sockets,
            self._clock.monotonic,
            self._on_connection_ended,
            self._new_logins,
            self._security,
        )
        self._listeners.bind(self.options.listeners, self.options.advertised)
        self._listeners.change_bounds(self._settings())
        self._throttle.on_change = self._listeners.change_address_rates
        self.listen_address = self._listeners.of_clients[0].address

    def _new_logins(self) -> Logins:
        from penstock.node.logins import Logins

        return Logins(self._broker, self._settings, self._new_id)

    async def _start_broker(self, is_alone: bool) -> None:
        """Lets clients in, once this node knows what they will ask for."""
        self._refresh_config()
        await recover(self.log_dirs)
        if is_alone:
            was_clean = self.log_dirs.was_clean
            await self._joining.let_in(was_clean=was_clean)
        else:
            self._membership = self._joining.new_membership()
            await self._membership.register()
            self._metadata.go_live()
            self._refresh_config()
        self._keeper.adopt_image()
        self._router.warm_up()
        self._listeners.start_clients(self._router.serve)
        if self._membership is not None:
            await self._membership.unfence()
        self._broker.load_coordinators()
        self._audit.start()
        self._history.start()

    def _controller_endpoints(self) -> list[Endpoint]:
        return [each.endpoint for each in self._listeners.of(self.options.controller_listeners)]

    def _build_storage(self, loop: asyncio.AbstractEventLoop) -> None:
        self._flusher = new_flusher(
            self.log_dirs,
            lambda: Flusher(
                self._disk,
                loop.call_soon_threadsafe,
                lambda failed, error: self._keeper.on_flush_failed(failed, error),
                stopwatch=Stopwatch(self._clock.monotonic, self.metrics.flush_s.observe),
                run_later=self._system.flush_later,
                loop_sync=self._new_loop_sync(loop),
            ),
        )
        self._flusher.start()
        self._build_links()
        self._keeper = PartitionKeeper(
            self.identity.node_id,
            self._image,
            self._settings,
            self.log_dirs,
            self._flusher.request,
            self._partitions,
            self._clock,
            self._replica_link,
        )
        self._metadata = MetadataPlane(
            self._image,
            self.log_dirs.metadata,
            self._clock,
            self.identity,
            self._settings,
            self._new_id,
            self._on_delta,
            self._system.random,
            quorum_config(
                self.identity, self.options.cluster, self._controller_endpoints(), self._settings()
            ),
            self._links.raft,
            self._links.ask_controller,
            self._throttle,
        )
        self._joining = self._new_joining()
        self._watch_failures()
        self._upkeep = Upkeep(
            self._settings,
            self._clock,
            self.log_dirs,
            self._partitions,
            self._flusher.request,
            self._metadata,
            self._keeper.repairs,
            self._keeper.moves,
            self._system.run_compaction,
        )

    def _new_joining(self) -> Joining:
        return Joining(
            self.identity,
            self._listeners,
            self._settings,
            self.log_dirs,
            self._metadata,
            self._links,
            self._new_id,
            self._background,
        )

    def _new_loop_sync(self, loop: asyncio.AbstractEventLoop) -> LoopSync | None:
        return new_loop_sync(loop, self._disk) if self._system.flush_later is None else None

    def _build_links(self) -> None:
        self._links = new_links(
            self.identity.node_id,
            self.options.cluster,
            self._image,
            self._system,
            self._security,
            self._settings,
            lambda: self._metadata.quorum.leader,
            self._ask_here,
        )
        self._replica_link = ReplicaLink(
            self.identity.node_id,
            self._clock,
            self._settings,
            self._broker_epoch,
            lambda: self._membership is None or self._membership.is_in_touch(),
            self._links.replicas,
            self._image.brokers,
            self._ask_here if isinstance(self._links, NoLinks) else self._links.ask_controller,
        )

    def _watch_failures(self) -> None:
        self._failures = DirectoryFailures(
            self.log_dirs,
            self._keeper.take_offline,
            self._tell_directories,
            lambda: self._membership is None or self._membership.knows_directories,
            lambda: int(self._settings().get("log.dir.failure.timeout.ms")) / 1000,
        )
        self._broker_watch = BrokerWatch(
            self.identity.node_id,
            self._image,
            self._links.replicas.is_gone,
            self._metadata.controller.fence,
        )
        self._metadata.on_active = self._broker_watch.look_at_all

    async def _ask_here(self, request: Entity) -> Any:
        """For this node itself, and for clients of it if the controller has come here while their
        request was on its way to another."""
        if isinstance(request, EnvelopeRequest):
            from penstock.handlers.api import envelope

            (listener, *_) = self.options.controller_listeners
            return await envelope.answer(self._broker, request, listener)
        return await self._metadata.controller.ask_here(request)

    def _broker_epoch(self) -> int:
        membership = self._membership
        return self._metadata.broker_epoch if membership is None else membership.broker_epoch

    def _build_broker(self, loop: asyncio.AbstractEventLoop) -> None:
        brokers = self._links.coordinators
        hosts = CoordinatorHosts(
            self.identity.node_id,
            self._settings,
            self._clock,
            self._image,
            self._partitions,
            self._metadata.controller,
            self.metrics,
            lambda: uuid_to_str(self._new_id()),
            self._listeners.of_clients[0].listener.held,
            brokers,
        )
        self._broker = Broker(
            node_id=self.identity.node_id,
            cluster_id=self.identity.cluster_id,
            config=self._settings(),
            clock=self._clock,
            loop=loop,
            image=self._image,
            partitions=self._partitions,
            lost_leaders=self._replica_link.lost_leaders,
            controller=self._metadata.controller,
            build_groups=hosts.groups,
            build_transactions=lambda: hosts.transactions(
                self._broker.producer_ids, self._broker.transaction_peers.marker_sender
            ),
            build_share=lambda: self._new_share_side(hosts),
            build_transaction_peers=lambda: hosts.transaction_peers(lambda: self._broker.groups),
            producer_ids=ProducerIds(
                lambda: self._metadata.controller.allocate_producer_ids(self._broker_epoch())
            ),
            fetch_sessions=FetchSessions(
                self._settings().fetch_sessions_max,
                first_id=1 + int.from_bytes(self._new_id()[:4]) % 0x7FFFFFFD,
            ),
            metrics=self.metrics,
            log_dirs=self.log_dirs,
            log_dir_moves=self._keeper.moves,
            throttle=self._throttle,
            parked=ParkedProduces(2 * self._settings().request_memory_bytes),
            slow_reading=asyncio.Lock(),
            quorum=self._metadata.quorum,
            controller_listeners=self.options.controller_listeners,
            answer_embedded=lambda *call: self._controller_router.answer_embedded(*call),
            check_security=self._security.check,
            audit=new_trail(self._settings(), self.identity, self._clock.now_ms()),
        )
        self._audit = Audit(self._broker, brokers)
        self._history = History(self._broker, brokers)
        turn = self._listeners.of_clients[0].listener.turn
        self._router = Router(self._broker, turn, BROKER_MODULES)
        self._controller_router = Router(self._broker, turn, CONTROLLER_MODULES)

    def _new_share_side(self, hosts: CoordinatorHosts) -> ShareSide:
        from penstock.handlers.share.side import ShareSide

        return ShareSide(self._broker, hosts.share(), self._links.coordinators)

    async def _open_metrics(self) -> None:
        self._metrics_server: MetricsServer | None = None
        if self.options.metrics is None:
            return
        from penstock.node.metrics import new_metrics

        metrics = new_metrics(
            self._broker,
            self._history.groups,
            [each.listener for each in self._listeners.of_clients],
            self._metadata,
            self._keeper,
            self._upkeep.failures,
            [*self._audit.gauges(), *self._listeners.gauges()],
            self._security.gauges(),
        )
        self._metrics_server = self._security.protected(metrics.render)
        self.metrics_address = Address(*await self._metrics_server.open(*self.options.metrics))

    # Run

    def _on_delta(self, delta: MetadataDelta) -> None:
        if any(resource.type == ResourceType.BROKER for resource in delta.configs_changed):
            self._refresh_config()
        elif delta.features_changed:
            self._joining.cordon.refresh()
        self._keeper.apply(delta)
        self._replica_link.lost_leaders.note_changed(delta.brokers_changed)
        if hasattr(self, "_broker"):
            self._broker.tell_coordinators(delta)
        changed = delta.topics_created or delta.topics_deleted or delta.partitions_created
        if changed and CONSUMER_OFFSETS in self._image.topics:
            self._background.spawn(self._broker.groups.apply(delta))
        if delta.topics_deleted and SHARE_STATE in self._image.topics:
            self._background.spawn(self._broker.share.host.forget_topics(delta))

    def _on_connection_ended(self, client: ClientState) -> None:
        """Of a member of a share group, or of a broker that spoke to the controller here: it may
        have ended altogether."""
        self._broker.on_connection_ended(client)
        if client.broker is not None and self._metadata.controller.is_active:
            self._broker_watch.on_lost(*client.broker)

    def _on_unexpected(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A callback or a task failed, and nobody was there to be told."""
        self.metrics.unexpected_errors += 1
        log.error(context.get("message", "unexpected error"), exc_info=context.get("exception"))

    def _tell_directories(self) -> None:
        """A node alone has nobody to tell: it leads what it has, and answers that it cannot."""
        if self._membership is not None:
            self._membership.tell_directories()

    async def wait_offline(self) -> None:
        """Returns when disks have failed without which the node is of no use."""
        await self._failures.wait_ended()

    @property
    def ended_by(self) -> StorageError | None:
        return self._failures.ended_by

    def _refresh_config(self) -> None:
        self._settings.refresh(self._image.configs, self.identity.node_id)
        self._joining.cordon.refresh()
        self._security.look()
        if hasattr(self, "_broker"):
            self._broker.config = self._settings()
            self._history.follow_settings()
        self._listeners.change_bounds(self._settings())
        self._keeper.refresh_all()

    # Stop

    async def stop(self) -> bool:
        """Answers what was asked, makes everything safe, and leaves nothing to recover. False if
        some part did not end: then all is as after a crash, and the process has to be ended."""
        if self._membership is not None:
            await self._membership.leave()
        await self._listeners.drain(DRAIN_TIMEOUT_S)
        self._background.cancel()
        stopping = Stopping()
        await stopping.end("audit log", self._audit.close(), STOP_TIMEOUT_S)
        await stopping.end("figures", self._history.close(), STOP_TIMEOUT_S)
        await stopping.end("upkeep", self._upkeep.stop(), STOP_TIMEOUT_S)
        if self._metrics_server is not None:
            await stopping.end("metrics", self._metrics_server.close(), STOP_TIMEOUT_S)
        await stopping.end("replicas", self._replica_link.close(), STOP_TIMEOUT_S)
        if self._membership is not None:
            await stopping.end("heartbeats", self._membership.close(), STOP_TIMEOUT_S)
        await stopping.end("coordinators", self._broker.close(), STOP_TIMEOUT_S)
        await stopping.end("metadata log", self._metadata.close(), STOP_TIMEOUT_S)
        await stopping.end("flusher", asyncio.to_thread(self._flusher.close), FLUSH_TIMEOUT_S)
        self._broker_watch.close()
        self._links.close()
        # The last completions come back to this loop; nothing may be closed before they have.
        await asyncio.sleep(0)
        if stopping.unended:
            self.log_dirs.abandon()
            return False
        self.log_dirs.close(broker_epoch=self._broker_epoch())
        return True

    def hasten(self) -> None:
        """A stop that is under way no longer waits for others to lead what is led here."""
        if self._membership is not None:
            self._membership.hasten()
