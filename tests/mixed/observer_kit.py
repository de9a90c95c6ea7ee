"""Our quorum as an observer of an Apache Kafka controller: the committed records, and an image."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.metadata import MetadataRecord
from penstock.metadata.image import ClusterImage
from penstock.model.id import TopicPartition
from penstock.node.raft_channel import PeerChannel
from penstock.peer.dialer import SocketDialer
from penstock.quorum.config import QuorumConfig
from penstock.quorum.host import Quorum
from penstock.quorum.log_config import MetadataLogConfig
from penstock.quorum.metadata_log import MetadataLog
from penstock.raft import Node, RaftConfig, RaftEndpoint, VoterSet
from penstock.storage.disk import RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.recovery.loader import open_log
from penstock.storage.trash import Trash
from penstock.telemetry.clock import SystemClock
from tests.patience import PATIENCE_S

LISTENER = "CONTROLLER"
PARTITION = TopicPartition("__cluster_metadata", 0)


class Observer:
    can_vote = False

    def __init__(
        self, directory: Path, node_id: int, controller_servers: str, cluster_id: str
    ) -> None:
        host, _, port = controller_servers.rpartition(":")
        bootstrap = (Node(-2, (RaftEndpoint(LISTENER, host, int(port)),)),)
        raft = RaftConfig(node_id, bytes([node_id]) * 16, can_vote=False, bootstrap=bootstrap)
        self._set_up(directory, raft, VoterSet(), cluster_id)

    def _set_up(self, directory: Path, raft: RaftConfig, voters: VoterSet, cluster_id: str) -> None:
        self.image = ClusterImage()
        self.records: list[tuple[int, MetadataRecord]] = []
        self.snapshots: list[int] = []
        self.leaders: list[tuple[int | None, int]] = []
        self.node_id = raft.node_id
        self._channel = PeerChannel(SocketDialer(), raft.node_id, random.random)
        self.log = _open(directory, synced=self.can_vote)
        self.quorum = Quorum(
            QuorumConfig(cluster_id, raft, voters, retained_bytes=0),
            self.log,
            SystemClock(),
            self,
            random.random,
            channel=self._channel,
        )

    def held_bytes(self) -> bytes:
        """All that is committed and still in the log."""
        start, end = self.log.start_offset, self.log.high_watermark
        return b"".join(bytes(batch) for _, batch in self.log.batches(start, end))

    async def __aenter__(self) -> Observer:
        self.quorum.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.quorum.close()
        self._channel.close()
        self.log.log.close()

    def on_committed(self, records: Sequence[tuple[int, MetadataRecord]]) -> None:
        self.records += records
        for offset, record in records:
            self.image.replay(record, offset)

    def on_snapshot(self, records: Sequence[MetadataRecord], end_offset: int) -> None:
        self.snapshots.append(end_offset)
        self.records.clear()
        self.image = ClusterImage()
        for record in records:
            self.image.replay(record, end_offset - 1)

    def on_leader(self, epoch: int) -> None:
        raise AssertionError("an observer never leads")

    def on_follower(self, leader_id: int | None, epoch: int) -> None:
        self.leaders.append((leader_id, epoch))

    async def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if self.quorum.failure is not None:
                raise self.quorum.failure
            assert time.monotonic() < deadline, self._told()
            await asyncio.sleep(0.01)

    def _told(self) -> str:
        log = self.log
        offsets = f"log {log.start_offset} to {log.end_offset}, committed {log.high_watermark}"
        view, trouble = self.quorum.view, self._channel.trouble
        return f"{view}, {offsets}, leaders {self.leaders[-3:]}, last trouble: {trouble}"

    async def caught_up_with(self, topic: str) -> None:
        await self.until(lambda: topic in self.image.topics)


def _open(directory: Path, *, synced: bool) -> MetadataLog:
    disk = RealDisk()
    log = open_log(
        str(directory / str(PARTITION)),
        PARTITION,
        MetadataLogConfig(),
        FileCache(disk, 16),
        SystemClock(),
        Trash(disk),
        clean=False,
    )
    return MetadataLog(log, synced=synced)
