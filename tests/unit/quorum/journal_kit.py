"""A metadata journal over a real log, and a controller on top, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from penstock.controller import ControllerConfig, ControllerShard, SettingsSchema
from penstock.metadata import MetadataRecord
from penstock.model.id import TopicPartition
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.quorum.log_config import MetadataLogConfig
from penstock.quorum.metadata_journal import MetadataJournal
from penstock.quorum.metadata_log import MetadataLog
from penstock.runtime import Runtime
from penstock.settings.config import BrokerConfig
from penstock.storage.disk import Disk, RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.recovery.loader import open_log
from penstock.storage.trash import Trash

PARTITION = TopicPartition("__cluster_metadata", 0)
T = TypeVar("T")


class FixedClock:
    def now_ms(self) -> int:
        return 1_700_000_000_000

    def monotonic(self) -> float:
        return 0.0


class Plane:
    """Opened from what is on disk, the way a node does."""

    def __init__(
        self,
        directory: Path,
        disk: Disk | None = None,
        *,
        clean: bool = False,
        **journal_options: Any,
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
        self.journal = MetadataJournal(
            MetadataLog(self.log), self.disk, path, FixedClock(), **journal_options
        )
        config = BrokerConfig()
        self._ids = iter(range(1000, 1 << 40))
        shard = ControllerShard(
            ControllerConfig(),
            SettingsSchema(lambda: config),
            lambda: next(self._ids).to_bytes(8, "big") * 2,
        )
        self.committed: list[MetadataRecord] = []
        self.runtime: Runtime[ControllerShard, MetadataRecord] = Runtime(
            shard, self.journal, FixedClock(), lambda records, _: self.committed.extend(records)
        )
        self.loaded = self.runtime.load()

    @property
    def shard(self) -> ControllerShard:
        return self.runtime.machine

    @property
    def image(self) -> Any:
        return self.shard.image

    async def join(self, life: int = 1, directory_id: bytes = b"d" * 16) -> None:
        self.journal.begin_epoch(1)
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

    async def create(self, name: str, partitions: int = 1) -> Any:
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=-1)
        request = CreateTopicsRequest(topics=[topic])
        return await self.runtime.submit(lambda shard: shard.decide_create_topics(request))

    def close(self) -> None:
        self.log.close()

    def crash(self) -> None:
        """Only give the descriptors back: nothing is flushed or written any more."""
        self.log.release_files()


def play(story: Callable[[], Awaitable[T]] | Coroutine[Any, Any, T]) -> T:
    return asyncio.run(story() if callable(story) else story)  # type: ignore[arg-type]
