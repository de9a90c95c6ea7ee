"""What the storage tests share: a settable clock, settings, batches, and an opened log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.model.id import TopicPartition
from penstock.records.builder import build_batch
from penstock.records.record import Record
from penstock.storage.disk import Disk, RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.log import Log
from penstock.storage.recovery.loader import open_log
from penstock.storage.trash import Trash

TP = TopicPartition("orders", 0)


class FixedClock:
    def __init__(self, now_ms: int = 1_000_000) -> None:
        self.ms = now_ms

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


@dataclass(frozen=True)
class Settings:
    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    retention_ms: int = 7 * 24 * 3600 * 1000
    retention_bytes: int = -1
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    max_message_bytes: int = 1024 * 1024 + 12
    message_timestamp_type: str = "CreateTime"
    message_timestamp_before_max_ms: int = 0x7FFFFFFFFFFFFFFF
    message_timestamp_after_max_ms: int = 3_600_000
    compression_type: str = "producer"
    penstock_record_check: str = "always"
    flush_messages: int = 1
    flush_ms: int = 0x7FFFFFFFFFFFFFFF
    file_delete_delay_ms: int = 60_000

    def but(self, **changes: Any) -> Settings:
        return replace(self, **changes)


def batch(count: int = 1, *, timestamp: int = 1000, size: int = 10, **fields: Any) -> bytearray:
    records = [
        Record(delta, timestamp + delta, b"k%d" % delta, b"v" * size) for delta in range(count)
    ]
    return build_batch(records, **fields)


class Bench:
    """A directory in which a log is opened, closed and opened again."""

    def __init__(self, root: str, settings: Settings | None = None, disk: Disk | None = None):
        self.disk: Disk = disk or RealDisk()
        self.root = root
        self.directory = f"{root}/{TP}"
        self.settings = settings or Settings()
        self.clock = FixedClock()
        self.cache = FileCache(self.disk, 64)
        self.trash = Trash(self.disk)

    def open(self, *, clean: bool = True, recovery_point: int = 0, start: int = 0) -> Log:
        return open_log(
            self.directory,
            TP,
            self.settings,
            self.cache,
            self.clock,
            self.trash,
            clean=clean,
            recovery_point=recovery_point,
            log_start_offset=start,
        )

    def close(self) -> None:
        self.cache.close_all()
