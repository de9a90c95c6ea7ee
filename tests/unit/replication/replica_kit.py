"""What the tests of replication share: metadata as values, and a leader of three replicas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.metadata.partition import PartitionImage
from penstock.records.header import BATCH_OVERHEAD, HEADER, LOG_OVERHEAD, MAGIC_V2
from penstock.replication.context import ReplicaContext
from penstock.replication.leader import Leader
from penstock.replication.partition import Partition
from penstock.storage.epoch_cache import EpochCache
from tests.unit.storage.storage_kit import Bench, Settings

LAG_MAX_MS = 30_000
NOW = 1_000_000
OWN_EPOCH = 100


@dataclass(frozen=True)
class State:
    leader_epoch: int = 5
    partition_epoch: int = 10
    replicas: tuple[int, ...] = (1, 2, 3)
    isr: tuple[int, ...] = (1, 2, 3)
    leader_recovery_state: int = 0

    def but(self, **changes: Any) -> State:
        return replace(self, **changes)


@dataclass
class BrokerStanding:
    epoch: int
    fenced: bool = False
    in_controlled_shutdown: bool = False


@dataclass
class World:
    """Node 1 leads; brokers 1 to 4 are registered with the epochs 100, 200, 300, 400."""

    state: State = field(default_factory=State)
    start_offset: int = 0
    brokers: dict[int, BrokerStanding] = field(
        default_factory=lambda: {one: BrokerStanding(100 * one) for one in (1, 2, 3, 4)}
    )
    now_ms: int = NOW
    end_offset: int = 0
    high_watermark: int = 0

    def __post_init__(self) -> None:
        self.end_offset = max(self.end_offset, self.start_offset)
        self.leader = Leader(
            1,
            self.state,
            self.brokers.get,
            start_offset=self.start_offset,
            lag_max_ms=LAG_MAX_MS,
            now_ms=self.now_ms,
        )

    def fetch(self, replica_id: int, offset: int, broker_epoch: int | None = None) -> None:
        epoch = self.brokers[replica_id].epoch if broker_epoch is None else broker_epoch
        self.leader.on_fetch(replica_id, epoch, offset, self.end_offset, self.now_ms)

    def advance(self, own_offset: int | None = None, min_isr: int = 2) -> int:
        own_offset = self.end_offset if own_offset is None else own_offset
        self.high_watermark = self.leader.high_watermark(
            self.high_watermark, own_offset, min_isr, self.end_offset, self.now_ms
        )
        return self.high_watermark


@dataclass
class LogView:
    """As much of a log as a follower looks at."""

    end_offset: int = 0
    log_start_offset: int = 0
    high_watermark: int = 0
    epochs: EpochCache = field(default_factory=EpochCache)


def log_view(*entries: tuple[int, int], end: int, start: int = 0, mark: int = 0) -> LogView:
    return LogView(end, start, mark, EpochCache(entries))


def fetched_batch(base: int, count: int, epoch: int) -> bytes:
    """A batch as a follower sees it; no checksum, no records."""
    body = bytes(count)
    length = BATCH_OVERHEAD - LOG_OVERHEAD + len(body)
    fields = (base, length, epoch, MAGIC_V2, 0, 0, count - 1, 0, 0, -1, -1, -1, count)
    return HEADER.pack(*fields) + body


def image(*, leader: int, epoch: int, isr: tuple[int, ...] = (1, 2, 3)) -> PartitionImage:
    return PartitionImage(
        replicas=(1, 2, 3),
        isr=isr,
        leader=leader,
        leader_epoch=epoch,
        partition_epoch=10 * epoch + len(isr),
    )


def new_partition(
    folder: Path, is_in_touch: Callable[[], bool] = lambda: True, flush_messages: int = 1
) -> Partition:
    """Of three replicas, over a real log; this is node 1, and node 2 leads."""
    bench = Bench(str(folder), Settings(flush_messages=flush_messages))
    context = ReplicaContext(
        node_id=1,
        clock=bench.clock,
        open_log=lambda partition: bench.open(),
        flush=lambda log: log.flush(),
        broker=World().brokers.get,  # type: ignore[arg-type]
        broker_epoch=lambda: OWN_EPOCH,
        is_in_touch=is_in_touch,
        lag_max_ms=lambda: LAG_MAX_MS,
        checkpoint=lambda: None,
        alter_isr=lambda partition, change: None,
    )
    partition = Partition("orders", bytes(16), 0, context)
    partition.follow(image(leader=2, epoch=5))
    return partition
