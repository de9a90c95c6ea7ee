"""The cluster's metadata on this node: its log, the controller over it, and the runtime between.

A node alone is a cluster of one: the same log, records and machine as with many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from penstock.controller import SettingsSchema, controller_config
from penstock.controller.config import SUPPORTED_FEATURES
from penstock.controller.shard import ControllerShard
from penstock.handlers.controller_link import ControllerLink, QuorumView
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.snapshot import image_records
from penstock.metadata.version import METADATA_VERSION
from penstock.model.clock import Clock
from penstock.model.error import ApiError, StorageError
from penstock.model.id import TopicPartition
from penstock.node.identity import Identity
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from penstock.quorum.metadata_journal import MetadataJournal
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
PLAINTEXT = 0

log = get_logger("metadata")


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
    ) -> None:
        self.image = image
        self.broker_epoch = -1
        self._log_dir = log_dir
        self._identity = identity
        self._on_delta = on_delta
        self._config = config
        self._new_id = new_id
        storage_log = _open_log(log_dir)
        self.reserve = SpaceReserve(log_dir.disk, log_dir.path, lambda: log_dir.space()[1])
        self._journal = MetadataJournal(
            MetadataLog(storage_log),
            log_dir.disk,
            storage_log.directory,
            clock,
            reserve=self.reserve,
        )
        shard = ControllerShard(
            controller_config(config()), SettingsSchema(config), new_id, self.image
        )
        self._runtime: Runtime[ControllerShard, MetadataRecord] = Runtime(
            shard, self._journal, clock, self._committed
        )
        self.controller = ControllerLink(self._runtime, identity.node_id, self._quorum, config)

    def load(self) -> int:
        """Replays the metadata log; whatever it says is then in the image."""
        try:
            count = self._runtime.load()
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(_unreadable(self._log_dir, error)) from error
        self.image.take_delta()
        return count

    async def join(self, host: str, port: int) -> None:
        """Takes over the metadata log and lets this broker in."""
        self._journal.begin_epoch(self._identity.node_id)
        # Only an empty cluster is told what to begin with.
        is_new = METADATA_VERSION not in self.image.features
        bootstrap = read_bootstrap(self._log_dir.disk, self._log_dir.path) if is_new else None
        await self._runtime.submit(lambda shard: shard.decide_activate(bootstrap))
        if not self._log_dir.was_clean:
            await self._end_last_life()
        request = self._registration(host, port)
        response = await self._runtime.submit(lambda shard: shard.decide_register_broker(request))
        self.broker_epoch = response.broker_epoch
        await self._runtime.submit(
            lambda shard: shard.decide_unfence_broker(self._identity.node_id, self.broker_epoch)
        )

    async def _end_last_life(self) -> None:
        """After a crash leadership begins anew: what is written now and what the crash may have
        cut off at the same offsets must not share a leader epoch."""
        broker = self.image.brokers.get(self._identity.node_id)
        if broker is not None and not broker.fenced:
            epoch = broker.epoch
            await self._runtime.submit(
                lambda shard: shard.decide_fence_broker(self._identity.node_id, epoch)
            )

    async def keep_up(self) -> None:
        """Writes a snapshot when it is time, and keeps the reserve. StorageError if nothing can be
        changed any more: a node that only looks alive is of no use to anybody."""
        failure = self._runtime.failure
        if failure is not None:
            raise StorageError(f"the metadata log is no longer written: {failure}") from failure
        if not self.reserve.is_whole:
            await asyncio.to_thread(self.reserve.refill)
        if self._journal.wants_snapshot and not self.image.has_open_transaction:
            if self._journal.committed_offset < self.image.next_offset:
                return
            written = await self._journal.write_snapshot(
                list(image_records(self.image)), self.image.next_offset
            )
            log.info("metadata snapshot written", offset=written.end_offset, epoch=written.epoch)

    async def close(self) -> None:
        await self._runtime.close()

    def _registration(self, host: str, port: int) -> BrokerRegistrationRequest:
        return BrokerRegistrationRequest(
            broker_id=self._identity.node_id,
            cluster_id=self._identity.cluster_id,
            incarnation_id=self._new_id(),
            listeners=[
                Listener(name="PLAINTEXT", host=host, port=port, security_protocol=PLAINTEXT)
            ],
            features=[
                Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in SUPPORTED_FEATURES.items()
            ],
            rack=self._config().rack,
            log_dirs=[self._identity.directory_id],
        )

    def _committed(self, records: object, base_offset: int) -> None:
        delta = self.image.take_delta()
        if delta:
            self._on_delta(delta)

    def _quorum(self) -> QuorumView:
        return QuorumView(
            self._journal.epoch,
            self._journal.end_offset,
            self._journal.committed_offset,
            self._identity.directory_id,
        )


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
