"""A quorum of one over a real log, and a controller on top, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from penstock.controller import ControllerConfig, ControllerShard, SettingsSchema
from penstock.metadata import MetadataRecord
from penstock.metadata.image import ClusterImage
from penstock.metadata.snapshot import image_records
from penstock.model.id import TopicPartition
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.quorum.config import QuorumConfig
from penstock.quorum.host import Quorum
from penstock.quorum.leader_journal import LeaderJournal
from penstock.quorum.log_config import MetadataLogConfig
from penstock.quorum.metadata_log import MetadataLog
from penstock.raft import RaftConfig, ReplicaKey, SnapshotId, Voter, VoterSet
from penstock.runtime import Runtime
from penstock.settings.config import BrokerConfig
from penstock.storage.disk import Disk, RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.recovery.loader import open_log
from penstock.storage.trash import Trash

PARTITION = TopicPartition("__cluster_metadata", 0)
DIRECTORY_ID = b"d" * 16
T = TypeVar("T")


class FixedClock:
    def now_ms(self) -> int:
        return 1_700_000_000_000

    def monotonic(self) -> float:
        return 0.0


class Plane:
    """Opened from what is on disk, the way a node does: `await Plane(...).lead()`."""

    def __init__(
        self,
        directory: Path,
        disk: Disk | None = None,
        *,
        clean: bool = False,
        **options: Any,
    ) -> None:
        self.disk = RealDisk() if disk is None else disk
        cache = FileCache(self.disk, 16)
        path = str(directory / "__cluster_metadata-0")
        self.log = open_log(
            path,
            PARTITION,
            MetadataLogConfig(),
            cache,
            FixedClock(),
            Trash(self.disk),
            clean=clean,
        )
        key = ReplicaKey(1, DIRECTORY_ID)
        config = QuorumConfig(
            "test-cluster",
            RaftConfig(1, DIRECTORY_ID),
            VoterSet([Voter(key)]),
            alone=True,
            retained_bytes=0,
            **options,
        )
        self.metadata_log = MetadataLog(self.log)
        self.quorum = Quorum(config, self.metadata_log, FixedClock(), self, lambda: 0.5)
        self.image = ClusterImage()
        """Of what is committed."""
        self.committed: list[MetadataRecord] = []
        self.loaded = 0
        self._ids = iter(range(1000, 1 << 40))

    # --- a listener ---

    def on_committed(self, records: Sequence[tuple[int, MetadataRecord]]) -> None:
        self.loaded += len(records)
        for offset, record in records:
            self.image.replay(record, offset)
            self.committed.append(record)

    def on_snapshot(self, records: Sequence[MetadataRecord], end_offset: int) -> None:
        self.loaded += len(records)
        for record in records:
            self.image.replay(record, end_offset - 1)
        self.image.next_offset = end_offset

    def on_leader(self, epoch: int) -> None:
        config = BrokerConfig()
        shard = ControllerShard(
            ControllerConfig(),
            SettingsSchema(lambda: config),
            lambda: next(self._ids).to_bytes(8, "big") * 2,
            self.image.copy(),
        )
        self.runtime: Runtime[ControllerShard, MetadataRecord] = Runtime(
            shard, self.journal, FixedClock()
        )

    def on_follower(self, leader_id: int | None, epoch: int) -> None:
        """Only when it stops."""

    # --- what a test asks of it ---

    @property
    def journal(self) -> LeaderJournal:
        assert self.quorum.journal is not None
        return self.quorum.journal

    @property
    def epoch(self) -> int:
        return self.quorum.view.epoch

    @property
    def working_image(self) -> ClusterImage:
        return self.runtime.machine.image

    async def lead(self) -> Plane:
        self.quorum.start()
        await self.quorum.wait_leading()
        return self

    async def join(self, life: int = 1, directory_id: bytes = DIRECTORY_ID) -> Plane:
        if self.quorum.journal is None:
            await self.lead()
        await self.runtime.submit(lambda shard: shard.decide_activate())
        request = BrokerRegistrationRequest(
            broker_id=1,
            incarnation_id=life.to_bytes(16, "big"),
            listeners=[Listener(name="PLAINTEXT", host="localhost", port=9092)],
            features=[
                Feature(name=name, max_supported_version=99)
                for name in {*self.image.features, "metadata.version"}
            ],
            rack=None,
            log_dirs=[directory_id],
        )
        reply = await self.runtime.submit(lambda shard: shard.decide_register_broker(request))
        await self.runtime.submit(lambda shard: shard.decide_unfence_broker(1, reply.broker_epoch))
        return self

    async def create(self, name: str, partitions: int = 1) -> Any:
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=-1)
        request = CreateTopicsRequest(topics=[topic])
        return await self.runtime.submit(lambda shard: shard.decide_create_topics(request))

    async def write_snapshot(self) -> SnapshotId | None:
        return await self.quorum.write_snapshot(
            list(image_records(self.image)), self.quorum.committed_offset
        )

    async def close(self) -> None:
        await self.quorum.close()
        self.log.close()

    def crash(self) -> None:
        """Only give the descriptors back: nothing is flushed or written any more."""
        self.log.release_files()


def play(story: Callable[[], Awaitable[T]] | Coroutine[Any, Any, T]) -> T:
    return asyncio.run(story() if callable(story) else story)  # type: ignore[arg-type]
