"""What the compaction tests share: keyed records, a log made for cleaning, and reading it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.records.builder import build_batch
from penstock.records.control import build_end_marker
from penstock.records.header import BatchHeader, check_batch, iter_batches
from penstock.records.record import Record, iter_records
from penstock.storage.append_check import Origin
from penstock.storage.compaction.cleaner import Cleaner
from penstock.storage.compaction.config import CleanerSettings
from penstock.storage.disk import Disk
from penstock.storage.log import Log
from tests.unit.storage.storage_kit import TP, Bench, Settings

DAY_MS = 24 * 3600 * 1000
NEVER_MS = 0x7FFFFFFFFFFFFFFF

Row = tuple[int, bytes | None, bytes | None]
"""(offset, key, value)."""


@dataclass(frozen=True)
class CompactSettings(Settings):
    cleanup_policy: frozenset[str] = frozenset({"compact"})
    delete_retention_ms: int = DAY_MS
    min_cleanable_dirty_ratio: float = 0.0
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = NEVER_MS
    index_interval_bytes: int = 100
    file_delete_delay_ms: int = 0


class CleanBench(Bench):
    """A log with compaction on, its cleaner, and shorthands to write into it."""

    def __init__(
        self,
        root: str,
        settings: CompactSettings | None = None,
        disk: Disk | None = None,
        cleaner_settings: CleanerSettings | None = None,
    ) -> None:
        super().__init__(root, settings or CompactSettings(), disk)
        self.disk.mkdir(root)
        self.log = self.open()
        self.cleaner = Cleaner(
            self.disk,
            root,
            lambda: [self.log],
            self.clock,
            lambda: cleaner_settings or CleanerSettings(),
        )
        self.cleaner.load()

    def put(self, *pairs: tuple[bytes | None, bytes | None], **fields: Any) -> int:
        """One batch; its base offset."""
        now = self.clock.now_ms()
        records = [Record(delta, now, key, value) for delta, (key, value) in enumerate(pairs)]
        batch = build_batch(records, **fields)
        origin = Origin.CLIENT if fields.get("producer_id", -1) < 0 else Origin.COORDINATOR
        result = self.log.append(batch, 0, now, origin)
        self.log.advance_high_watermark(self.log.end_offset)
        return result.first_offset

    def end_txn(self, producer_id: int, *, commit: bool, epoch: int = 0) -> int:
        now = self.clock.now_ms()
        marker = build_end_marker(
            producer_id=producer_id,
            producer_epoch=epoch,
            commit=commit,
            coordinator_epoch=0,
            timestamp=now,
        )
        result = self.log.append(marker, 0, now, Origin.COORDINATOR)
        self.log.advance_high_watermark(self.log.end_offset)
        return result.first_offset

    def roll(self) -> None:
        self.log.roll()

    def clean(self) -> Any:
        return self.cleaner.run_once(self.clock.now_ms())

    def rows(self, log: Log | None = None) -> list[Row]:
        return [
            (record.offset, record.key, record.value)
            for header, batch in read_batches(log or self.log)
            if not header.is_control
            for record in iter_records(batch)
        ]

    def reopen(self, *, clean: bool = True) -> None:
        start, high_watermark = self.log.log_start_offset, self.log.high_watermark
        if clean:
            self.log.close()
        self.cache.close_all()
        self.log = self.open(clean=clean, recovery_point=self.log.recovery_point, start=start)
        self.log.advance_high_watermark(high_watermark)


def read_batches(log: Log, max_bytes: int = 3000) -> list[tuple[BatchHeader, bytes]]:
    found: list[tuple[BatchHeader, bytes]] = []
    offset = log.log_start_offset
    while offset < log.end_offset:
        result = log.read(offset, max_bytes, log.end_offset)
        data = b"".join(part.read() for part in result.slices)
        if not data:
            break
        for position, header in iter_batches(data, 0, len(data)):
            check_batch(data, position, len(data))
            found.append((header, data[position : position + header.size]))
            offset = header.next_offset
    return found


__all__ = ["DAY_MS", "TP", "CleanBench", "CompactSettings", "read_batches"]
