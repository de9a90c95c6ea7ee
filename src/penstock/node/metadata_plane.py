"""The cluster's metadata on this node: the quorum, the image of what is committed, the controller.

Two images: the node's own, which handlers and partitions go by, is fed with committed records
only; the active controller decides on one of its own, which runs ahead of it. A node alone is a
cluster of one: the same log, records and machine as with many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial

from penstock.controller import SettingsSchema, controller_config
from penstock.controller.shard import ControllerShard
from penstock.handlers.controller_link import AskRemote, ControllerLink
from penstock.handlers.throttle import Throttle
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.snapshot import image_records
from penstock.metadata.version import METADATA_VERSION
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.network.later import future_of
from penstock.node.identity import Identity
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest
from penstock.quorum.channel import Channel
from penstock.quorum.config import QuorumConfig
from penstock.quorum.host import Quorum
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.metadata_snapshot import read_bootstrap
from penstock.quorum.space_reserve import SpaceReserve
from penstock.runtime.driver import Runtime
from penstock.settings.config import BrokerConfig
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.telemetry.log import get_logger

METADATA_PARTITION = TopicPartition("__cluster_metadata", 0)
METADATA_TOPIC_ID = bytes(15) + b"\x01"

log = get_logger("metadata")

ControllerRuntime = Runtime[ControllerShard, MetadataRecord]


class MetadataPlane:
    """`on_delta` is told what committed records changed, before their requests are answered."""

    def __init__(
        self,
        image: ClusterImage,
        log_dir: LogDir,
        clock: Clock,
        identity: Identity,
        config: Callable[[], BrokerConfig],
        new_id: Callable[[], bytes],
        on_delta: Callable[[MetadataDelta], None],
        random: Callable[[], float],
        quorum: QuorumConfig,
        channel: Channel | None,
        ask_remote: AskRemote,
        throttle: Throttle,
    ) -> None:
        self.image = image
        self.broker_epoch = -1
        """Of a node alone; elsewhere the controller gives it (`membership`)."""
        self._activating: asyncio.Task[None] | None = None
        self._is_alone = quorum.alone
        self._log_dir = log_dir
        self._clock = clock
        self._identity = identity
        self._on_delta = on_delta
        self._config = config
        self._new_id = new_id
        self._throttle = throttle
        self._is_live = False
        self.on_active: Callable[[], None] = lambda: None
        """Told when this node has become the controller of a cluster."""
        self._runtime: ControllerRuntime | None = None
        self.reserve = SpaceReserve(log_dir.disk, log_dir.path, lambda: log_dir.space()[1])
        self.quorum = Quorum(
            quorum,
            MetadataLog(
                _open_log(log_dir),
                synced=quorum.raft.can_vote,
                lower_recovery_point=partial(log_dir.lower_recovery_point, METADATA_PARTITION),
            ),
            clock,
            self,
            random,
            channel=channel,
            reserve=self.reserve,
        )
        self.controller = ControllerLink(
            identity.node_id,
            clock,
            image,
            self.active,
            ask_remote,
            self.quorum.describe,
            config,
            throttle,
        )

    def active(self) -> ControllerRuntime | None:
        """The controller, if it is here."""
        return self._runtime

    async def start(self) -> None:
        """Takes part in the quorum. A node alone leads when this returns, and whatever the metadata
        log says is in the image."""
        try:
            self.quorum.start()
            if self._is_alone:
                await self.quorum.wait_leading()
                self.go_live()
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(_unreadable(self._log_dir, error)) from error

    def go_live(self) -> None:
        """From now on what is committed is acted upon."""
        self.image.take_delta()
        self._throttle.change(self.image.security)
        self._is_live = True

    async def let_in(self, request: BrokerRegistrationRequest, *, was_clean: bool) -> None:
        """This broker, by the controller that it is itself. `was_clean`: its last life ended
        orderly."""
        runtime = self._runtime
        assert runtime is not None
        bootstrap = self._bootstrap()
        await runtime.submit(lambda shard: shard.decide_activate(bootstrap))
        if not was_clean:
            await self._end_last_life(runtime)
        response = await runtime.submit(lambda shard: shard.decide_register_broker(request))
        self.broker_epoch = response.broker_epoch
        await runtime.submit(
            lambda shard: shard.decide_unfence_broker(self._identity.node_id, self.broker_epoch)
        )

    async def cordon(self, directories: Collection[bytes] | None) -> None:
        """Of this broker, by the controller that it is itself; elsewhere heartbeats say it."""
        runtime, epoch = self._runtime, self.broker_epoch
        if not self._is_alone or runtime is None or epoch < 0 or directories is None:
            return
        await runtime.submit(
            lambda shard: shard.decide_cordon(self._identity.node_id, epoch, directories)
        )

    async def _end_last_life(self, runtime: ControllerRuntime) -> None:
        """After a crash leadership begins anew: what is written now and what the crash may have
        cut off at the same offsets must not share a leader epoch."""
        broker = self.image.brokers.get(self._identity.node_id)
        if broker is not None and not broker.fenced:
            epoch = broker.epoch
            await runtime.submit(
                lambda shard: shard.decide_fence_broker(self._identity.node_id, epoch)
            )

    async def keep_up(self) -> None:
        """Writes a snapshot when it is time, and keeps the reserve. StorageError if nothing can be
        changed any more: a node that only looks alive is of no use to anybody."""
        failure: BaseException | None = self.quorum.failure
        stopped = None if self._runtime is None else self._runtime.failure
        if failure is None and self._is_alone:
            failure = stopped
        if failure is not None:
            raise StorageError(f"the metadata log is no longer written: {failure}") from failure
        if stopped is not None:
            # It would answer nobody, and as long as this node leads there is no other.
            log.error("the controller cannot go on", exc_info=stopped)
            self.quorum.resign()
        if not self.reserve.is_whole:
            await asyncio.to_thread(self.reserve.refill)
        if self.quorum.wants_snapshot and not self.image.has_open_transaction:
            # A copy takes milliseconds, and the rest is done beside: nobody waits for it.
            records = image_records(self.image.copy())
            written = await self.quorum.write_snapshot(records, self.quorum.committed_offset)
            if written is not None:
                offset, epoch = written
                log.info("metadata snapshot written", offset=offset, epoch=epoch)

    async def close(self) -> None:
        if self._runtime is not None and self._is_alone:
            await self._runtime.close()
        await self.quorum.close()

    # What the quorum tells

    def on_snapshot(self, records: Sequence[MetadataRecord], end_offset: int) -> None:
        image = ClusterImage()
        for record in records:
            # All of it happened somewhere before the snapshot's end; no record knows where.
            image.replay(record, end_offset - 1)
        image.next_offset = end_offset
        self.image.replace(image)
        self._act()

    def on_committed(self, records: Sequence[tuple[int, MetadataRecord]]) -> None:
        replay = self.image.replay
        for offset, record in records:
            replay(record, offset)
        if self._runtime is not None:
            self._tell_quorum(self._runtime.machine)
        self._act()

    def _act(self) -> None:
        if self._is_live:
            delta = self.image.take_delta()
            if delta:
                self._mention(delta)
                if delta.quotas_changed:
                    self._throttle.change(self.image.security)
                self._on_delta(delta)

    def _mention(self, delta: MetadataDelta) -> None:
        """Of a cluster, by the controller: who came, who went."""
        if self._runtime is None or self._is_alone:
            return
        for broker_id in sorted(delta.brokers_changed):
            broker = self.image.brokers.get(broker_id)
            if broker is None:
                log.info("broker unregistered", broker=broker_id)
            else:
                state = "fenced" if broker.fenced else "unfenced"
                if broker.in_controlled_shutdown:
                    state = "shutting down"
                log.info("broker", id=broker_id, state=state, epoch=broker.epoch)

    def on_leader(self, epoch: int) -> None:
        """The controller begins with what is committed, and nothing else is in the log."""
        assert self.quorum.journal is not None
        shard = ControllerShard(
            controller_config(self._config()),
            SettingsSchema(self._config),
            self._new_id,
            self.image.copy(),
        )
        self._tell_quorum(shard)
        runtime: ControllerRuntime = Runtime(shard, self.quorum.journal, self._clock)
        if self._is_alone:
            self._runtime = runtime
        else:
            self._activating = asyncio.create_task(self._activate(runtime), name="activation")

    def _tell_quorum(self, shard: ControllerShard) -> None:
        shard.quorum.voter_ids = frozenset(self.quorum.voter_ids)
        shard.quorum.kraft_version = self.quorum.kraft_version

    async def _activate(self, runtime: ControllerRuntime) -> None:
        """Nobody is answered before the first decision: a cluster has its features by then."""
        bootstrap = self._bootstrap()
        try:
            activated = runtime.ask(
                lambda shard: shard.decide_activate(bootstrap, self._clock.now_ms())
            )
            if runtime.failure is not None or self.quorum.journal is None:
                return
            self._runtime = runtime
            if activated is not None:
                await future_of(activated)
            self.on_active()
        except ApiError:
            return  # another one leads already
        except Exception as error:
            log.error("the controller cannot begin", exc_info=error)
            self.quorum.resign()

    def _bootstrap(self) -> list[MetadataRecord] | None:
        """Only an empty cluster is told what to begin with."""
        if METADATA_VERSION in self.image.features:
            return None
        return read_bootstrap(self._log_dir.disk, self._log_dir.path)

    def on_follower(self, leader_id: int | None, epoch: int) -> None:
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.fail(ApiError(ErrorCode.NOT_CONTROLLER))


def _open_log(log_dir: LogDir) -> Log:
    """The one log without which there is nothing: StorageError if it is not what it was."""
    try:
        return log_dir.create_log(METADATA_PARTITION, METADATA_TOPIC_ID, keep_whole=True)
    except ApiError as error:
        raise StorageError(_unreadable(log_dir, error)) from error


def _unreadable(log_dir: LogDir, error: Exception) -> str:
    return (
        f"the metadata log in {log_dir.path}/{METADATA_PARTITION.topic}-0 cannot be used: {error}. "
        "Nothing is served without it: put a copy of that directory back"
    )
